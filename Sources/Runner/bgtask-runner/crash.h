/* Reports a crash: before a fatal signal ends the process, the host gets the signal and the stacks of all
 * threads. */
#ifndef BGTASK_RUNNER_CRASH_H
#define BGTASK_RUNNER_CRASH_H

#include <stdint.h>

/** Begins to report the fatal signals of this process, except those that the plugin handles itself. Call it
 *  on the main thread, after report_start. */
void crash_prepare(void);
/** Makes later crashes wait for the host, because the control thread now reads the host's messages. */
void crash_expect_host(void);
/** The number of the thread that crashed; 0 if none has. */
uint64_t crash_thread(void);
/** Ends the wait of the thread that crashed, because the other stacks are sent. Called by the control
 *  thread. */
void crash_release(void);

#endif
