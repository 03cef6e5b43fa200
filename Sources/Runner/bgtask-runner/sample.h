/* The stacks of the task's threads. The host requests them when a thread uses too much CPU time, when the
 * task crashes, and before it kills the task. The thread itself records its stack in a signal handler. */
#ifndef BGTASK_RUNNER_SAMPLE_H
#define BGTASK_RUNNER_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

/** The number that means the main thread, so that the host need not know that thread's number. */
#define SAMPLE_MAIN_THREAD 0
/** The number that means all threads except the control thread. */
#define SAMPLE_ALL_THREADS UINT64_MAX
/** The largest number of addresses in a stack. */
#define SAMPLE_FRAMES_MAX 64

/** Loads the unwinder, so that a stack can later be recorded without allocating memory. */
void sample_prepare(void);
/** Records the stack of the code that a signal interrupted, innermost first; returns the number of addresses.
 *  Call it in a signal handler, with its third argument and room for SAMPLE_FRAMES_MAX addresses. */
size_t sample_interrupted(const void *context, uint64_t *addresses);
/** Records up to `room` (at most 16) return addresses of the caller of the calling function, innermost first;
 *  returns their number. */
size_t sample_caller(uint64_t *addresses, size_t room);
/** Requests the stacks of all threads except the caller and the thread `without`, one after the other, and
 *  sends those that arrive. It takes at most 0.2 s, and covers at most 64 threads. */
void sample_send_all(uint64_t without);

/** Requests the stack of a thread of this process; the eventfd `wake` is signalled when the thread has
 *  answered, unless it is -1. Call it only on the control thread. A thread that has ended, or that blocks the
 *  signal, never answers. A new request replaces the previous one. */
void sample_ask(uint64_t thread, int wake);
/** Sends the stack that was recorded since the last call, if there is one. Call it only on the control
 *  thread. */
void sample_send(void);

#endif
