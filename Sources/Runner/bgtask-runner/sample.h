/* The stacks of the task's threads. The host requests one when a thread uses too much CPU time, or before
 * it kills the task. The thread itself records its stack in a signal handler. */
#ifndef BGTASK_RUNNER_SAMPLE_H
#define BGTASK_RUNNER_SAMPLE_H

#include <stdint.h>

/** The number that means the main thread, so that the host need not know that thread's number. */
#define SAMPLE_MAIN_THREAD 0

/** Requests the stack of a thread of this process; the eventfd `wake` is signalled when the thread has
 *  answered. Call it only on the control thread. A thread that has ended, or that blocks the signal, never
 *  answers. A new request replaces the previous one. */
void sample_ask(uint64_t thread, int wake);
/** Sends the stack that was recorded since the last call, if there is one. Call it only on the control
 *  thread. */
void sample_send(void);

#endif
