/* Where a thread of the task is: the host asks when it burns CPU or is about to be killed, the thread itself answers
 * from a signal. */
#ifndef BGTASK_RUNNER_SAMPLE_H
#define BGTASK_RUNNER_SAMPLE_H

#include <stdint.h>

/** The number by which the host asks for the main thread, whose own number it need not know. */
#define SAMPLE_MAIN_THREAD 0

/** Asks a thread of this process for its stack; `wake` is an eventfd that is signalled when it has answered. Control
 *  thread only. A thread that is gone, or blocks the signal, never answers; the next question replaces the old one. */
void sample_ask(uint64_t thread, int wake);
/** Sends the stack that has come since the last call, if one has. Control thread only. */
void sample_send(void);

#endif
