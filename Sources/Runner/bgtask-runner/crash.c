/* Reports a crash in the signal handler of the fatal signal.
 *
 * The handler sends *crash* with the stack of its thread. The host then reads the memory map of the process,
 * while it still exists, and requests the stacks of the other threads from the control thread. When they are
 * sent, the process ends by the same signal as without this handler. */
#include "crash.h"
#include "activity.h"
#include "frames.h"
#include "process.h"
#include "report.h"
#include "sample.h"
#include "task.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long the process waits for the host, which may be busy. */
#define PATIENCE_NANOSECONDS 2000000000

static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSYS};
enum { FATAL_SIGNALS = sizeof(fatal_signals) / sizeof(fatal_signals[0]) };

/* The stack of the handler on the main thread, so that a stack overflow can be reported, too. */
static _Alignas(16) unsigned char handler_stack[64 * 1024];
static pid_t process;
static _Atomic uint64_t crashed_thread;
static atomic_bool expects_host, released;

uint64_t crash_thread(void) {
    return atomic_load(&crashed_thread);
}

void crash_expect_host(void) {
    atomic_store(&expects_host, true);
}

void crash_release(void) {
    atomic_store(&released, true);
}

/* Ends the process by a signal. The signal is blocked in its own handler, so it arrives when the handler
 * returns. */
static void end_by(int number) {
    signal(number, SIG_DFL);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
}

/* Waits until the host has read the memory map and the control thread has sent the other stacks. */
static void wait_for_host(void) {
    if (report_is_control_thread()) {
        // No other thread reads the host's messages. Whatever arrives now is the host's answer.
        struct pollfd control = {.fd = TASK_CONTROL, .events = POLLIN};
        poll(&control, 1, (int)(PATIENCE_NANOSECONDS / 1000000));
        sample_send_all(0);
        return;
    }
    int64_t end = now_nanoseconds() + PATIENCE_NANOSECONDS;
    while (atomic_load(&expects_host) && !atomic_load(&released) && now_nanoseconds() < end) {
        struct timespec pause = {0, 500000};
        nanosleep(&pause, NULL);
    }
}

static void take_crash(int number, siginfo_t *information, void *context) {
    uint64_t none = 0, thread = (uint64_t)syscall(SYS_gettid);
    if (getpid() != process) {
        end_by(number); // a child of the plugin that has not executed another program
        return;
    }
    if (!atomic_compare_exchange_strong(&crashed_thread, &none, thread))
        for (;;)
            pause(); // another thread crashed first, and ends the process
    report_hurry();
    uint64_t addresses[SAMPLE_FRAMES_MAX];
    size_t count = sample_interrupted(context, addresses);
    struct frame_writer *writer = report_begin(MESSAGE_CRASH);
    if (writer != NULL) {
        frame_add_number(writer, 1, (uint64_t)number);
        frame_add_number(writer, 2, thread);
        // A positive code means that the kernel sent the signal because of an instruction.
        if (information->si_code > 0 && number != SIGSYS)
            frame_add_number(writer, 3, (uint64_t)(uintptr_t)information->si_addr);
        frame_add_bytes(writer, 4, addresses, count * sizeof(addresses[0]));
        const char *activity = activity_now();
        if (activity != NULL)
            frame_add_text(writer, 5, activity, 1024);
        if (report_end(writer))
            wait_for_host();
    }
    end_by(number);
}

void crash_prepare(void) {
    sample_prepare();
    process = getpid();
    stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof(handler_stack)}, before;
    if (sigaltstack(NULL, &before) == 0 && (before.ss_flags & SS_DISABLE) != 0)
        sigaltstack(&stack, NULL);
    struct sigaction ours = {.sa_sigaction = take_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    // A second fatal signal during the report is blocked, so that the kernel ends the process at once.
    for (int i = 0; i < FATAL_SIGNALS; i++)
        sigaddset(&ours.sa_mask, fatal_signals[i]);
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        struct sigaction theirs;
        if (sigaction(fatal_signals[i], NULL, &theirs) != 0)
            continue;
        if ((theirs.sa_flags & SA_SIGINFO) == 0 && theirs.sa_handler == SIG_DFL)
            sigaction(fatal_signals[i], &ours, NULL);
    }
    // The kernel ends a process at once whose blocked signal comes from an instruction, without the handler.
    pthread_sigmask(SIG_UNBLOCK, &ours.sa_mask, NULL);
}
