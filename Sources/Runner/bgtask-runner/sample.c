/* Stacks of threads: the thread records its own stack in a signal handler, and the control thread sends
 * it. */
#include "sample.h"
#include "frames.h"
#include "process.h"
#include "report.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define FRAMES_MAX SAMPLE_FRAMES_MAX
/* The number of frames of the signal handler itself, which precede the frames of the interrupted code. */
#define FRAMES_OURS 4

/* How many threads one request for all threads covers, how long one of them may take to answer, and how long
 * all of them together. The control thread can do nothing else in this time. */
#define ALL_THREADS_MAX 64
#define ONE_THREAD_NANOSECONDS 20000000
#define ALL_THREADS_NANOSECONDS 200000000

/* The owner of `frames`: the signal handler in the state WRITING, otherwise the control thread. */
enum { IDLE, ASKED, WRITING, ANSWERED };
static atomic_int state = IDLE;
static void *frames[FRAMES_MAX + FRAMES_OURS];
static int frame_count;
static void *interrupted_at;
static _Atomic uint64_t asked_thread;
static uint64_t asked_number;
static int wake_descriptor = -1;

static void *program_counter(const void *context) {
    const ucontext_t *machine = context;
#if defined(__x86_64__)
    return (void *)machine->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (void *)machine->uc_mcontext.pc;
#else
    (void)machine;
    return NULL;
#endif
}

/* The signal handler; it runs on the requested thread, at any point of its code. backtrace does not
 * allocate memory here, because it was called before, which loads its unwinder. */
static void take_stack(int number, siginfo_t *information, void *context) {
    (void)number;
    (void)information;
    int code = errno, expected = ASKED;
    bool is_asked = (uint64_t)syscall(SYS_gettid) == atomic_load(&asked_thread);
    if (!is_asked || !atomic_compare_exchange_strong(&state, &expected, WRITING)) {
        errno = code;
        return; // the request was replaced in the meantime, or another sender sent the signal
    }
    interrupted_at = program_counter(context);
    frame_count = backtrace(frames, FRAMES_MAX + FRAMES_OURS);
    int wake = wake_descriptor;
    atomic_store(&state, ANSWERED);
    if (wake >= 0)
        eventfd_write(wake, 1);
    errno = code;
}

static bool is_ours(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == take_stack;
}

/* Installs the handler for a signal, unless the plugin uses the signal itself. */
static bool take_signal(int number) {
    struct sigaction ours = {.sa_sigaction = take_stack, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK},
                     theirs;
    sigemptyset(&ours.sa_mask);
    if (sigaction(number, NULL, &theirs) != 0)
        return false;
    if (is_ours(&theirs))
        return true;
    bool is_free = (theirs.sa_flags & SA_SIGINFO) == 0 && theirs.sa_handler == SIG_DFL;
    return is_free && sigaction(number, &ours, NULL) == 0;
}

void sample_prepare(void) {
    static bool is_prepared;
    if (is_prepared)
        return;
    void *first[1];
    backtrace(first, 1);
    is_prepared = true;
}

/* Returns the signal that requests a stack; 0 if the plugin uses both possible signals.
 *
 * SIGPROF is preferred: the worker threads of libdispatch, which also run Swift tasks, block all real-time
 * signals, but not SIGPROF. The signals are checked before each request, because a plugin may start to use
 * them at any time. */
static int asking_signal(void) {
    sample_prepare();
    if (take_signal(SIGPROF))
        return SIGPROF;
    return take_signal(SIGRTMAX - 1) ? SIGRTMAX - 1 : 0;
}

void sample_ask(uint64_t thread, int wake) {
    int now = atomic_load(&state);
    int number = now == WRITING || now == ANSWERED ? 0 : asking_signal();
    if (number == 0)
        return;
    int expected = ASKED;
    if (now == ASKED && !atomic_compare_exchange_strong(&state, &expected, IDLE))
        return; // the thread is just answering
    wake_descriptor = wake;
    asked_number = thread;
    pid_t process = getpid(), target = thread == SAMPLE_MAIN_THREAD ? process : (pid_t)thread;
    atomic_store(&asked_thread, (uint64_t)target);
    atomic_store(&state, ASKED);
    // tgkill fails if the number is not a thread of this process.
    if (syscall(SYS_tgkill, process, target, number) != 0) {
        expected = ASKED;
        atomic_compare_exchange_strong(&state, &expected, IDLE);
    }
}

/* Copies the frames of the interrupted code, which begin at the interrupted address; those before belong to
 * the handler and its trampoline. Returns their number. */
static size_t copy_interrupted(void *const *from, int count, const void *at, uint64_t *addresses) {
    int start = 0;
    while (start < count && from[start] != at)
        start++;
    if (start == count)
        start = count < 2 ? count : 2;
    size_t copied = 0;
    while (copied < FRAMES_MAX && start + (int)copied < count) {
        addresses[copied] = (uint64_t)(uintptr_t)from[start + (int)copied];
        copied++;
    }
    return copied;
}

size_t sample_interrupted(const void *context, uint64_t *addresses) {
    void *own[FRAMES_MAX + FRAMES_OURS];
    int count = backtrace(own, FRAMES_MAX + FRAMES_OURS);
    return copy_interrupted(own, count, program_counter(context), addresses);
}

__attribute__((noinline)) size_t sample_caller(uint64_t *addresses, size_t room) {
    void *own[16 + 2];
    int count = backtrace(own, room < 16 ? (int)room + 2 : 18);
    size_t copied = 0;
    // The first two are this function and its caller.
    for (int i = 2; i < count && copied < room; i++)
        addresses[copied++] = (uint64_t)(uintptr_t)own[i];
    return copied;
}

void sample_send(void) {
    if (atomic_load(&state) != ANSWERED)
        return;
    uint64_t addresses[FRAMES_MAX];
    size_t count = copy_interrupted(frames, frame_count, interrupted_at, addresses);
    uint64_t thread = asked_number;
    atomic_store(&state, IDLE);
    struct frame_writer *writer = report_begin(MESSAGE_STACK);
    if (writer == NULL)
        return;
    frame_add_number(writer, 1, thread);
    frame_add_bytes(writer, 2, addresses, count * sizeof(addresses[0]));
    report_end(writer);
}

/* MARK: All threads */

/* Lists the threads of this process in `threads`; returns their number. It does not allocate memory, because
 * it may run after a crash in malloc. */
static size_t list_threads(uint64_t *threads, size_t room) {
    int directory = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return 0;
    size_t found = 0;
    _Alignas(8) char buffer[4096];
    long size;
    while (found < room && (size = syscall(SYS_getdents64, directory, buffer, sizeof(buffer))) > 0) {
        for (long at = 0; at < size && found < room;) {
            // struct dirent64: inode, offset, 2 bytes of length, 1 byte of type, then the name.
            const char *entry = buffer + at;
            unsigned short length = *(const unsigned short *)(const void *)(entry + 16);
            uint64_t number = strtoul(entry + 19, NULL, 10);
            if (number > 0)
                threads[found++] = number;
            at += length;
        }
    }
    close(directory);
    return found;
}

void sample_send_all(uint64_t without) {
    uint64_t threads[ALL_THREADS_MAX];
    size_t count = list_threads(threads, ALL_THREADS_MAX);
    uint64_t self = (uint64_t)syscall(SYS_gettid);
    int64_t end = now_nanoseconds() + ALL_THREADS_NANOSECONDS;
    for (size_t i = 0; i < count && now_nanoseconds() < end; i++) {
        if (threads[i] == self || threads[i] == without)
            continue;
        sample_ask(threads[i], -1);
        int64_t patience = now_nanoseconds() + ONE_THREAD_NANOSECONDS;
        int now;
        while (((now = atomic_load(&state)) == ASKED || now == WRITING) && now_nanoseconds() < patience) {
            struct timespec pause = {0, 50000};
            nanosleep(&pause, NULL);
        }
        sample_send();
    }
}
