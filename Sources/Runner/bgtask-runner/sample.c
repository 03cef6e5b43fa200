/* Stacks of threads: the thread records its own stack in a signal handler, and the control thread sends
 * it. */
#include "sample.h"
#include "frames.h"
#include "report.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define FRAMES_MAX 64
/* The number of frames of the signal handler itself, which precede the frames of the interrupted code. */
#define FRAMES_OURS 4

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
    atomic_store(&state, ANSWERED);
    eventfd_write(wake_descriptor, 1);
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

/* Returns the signal that requests a stack; 0 if the plugin uses both possible signals.
 *
 * SIGPROF is preferred: the worker threads of libdispatch, which also run Swift tasks, block all real-time
 * signals, but not SIGPROF. The signals are checked before each request, because a plugin may start to use
 * them at any time. */
static int asking_signal(void) {
    static bool is_prepared;
    if (!is_prepared) {
        void *first[1];
        backtrace(first, 1);
        is_prepared = true;
    }
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

void sample_send(void) {
    if (atomic_load(&state) != ANSWERED)
        return;
    // The frames of the interrupted code begin at the interrupted address; those before belong to the handler
    // and its trampoline.
    int start = 0;
    while (start < frame_count && frames[start] != interrupted_at)
        start++;
    if (start == frame_count)
        start = frame_count < 2 ? frame_count : 2;
    uint64_t addresses[FRAMES_MAX];
    int count = 0;
    while (count < FRAMES_MAX && start + count < frame_count) {
        addresses[count] = (uint64_t)(uintptr_t)frames[start + count];
        count++;
    }
    uint64_t thread = asked_number;
    atomic_store(&state, IDLE);
    struct frame_writer *writer = report_begin(MESSAGE_STACK);
    if (writer == NULL)
        return;
    frame_add_number(writer, 1, thread);
    frame_add_bytes(writer, 2, addresses, (size_t)count * sizeof(addresses[0]));
    report_end(writer);
}
