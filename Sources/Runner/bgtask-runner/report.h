/* The report pipe: sends frames to the host, one at a time, and combines progress reports. Any thread may
 * use it. */
#ifndef BGTASK_RUNNER_REPORT_H
#define BGTASK_RUNNER_REPORT_H

#include "frames.h"

#include <pthread.h>

/** Sets the pipe, and makes it non-blocking. Called once, before other threads use it. */
void report_start(int descriptor);
/** Sets the control thread, which never waits longer than 2 s for the pipe. */
void report_set_control_thread(pthread_t thread);
/** Whether the caller is on the control thread. */
bool report_is_control_thread(void);
/** Lets the calling thread, which has crashed, wait at most 0.5 s for the pipe from now on. */
void report_hurry(void);

/** Locks the pipe for one frame. On the control thread, returns NULL if the pipe stays locked for 2 s;
 *  on a thread that has crashed, for 0.5 s. */
struct frame_writer *report_begin(uint8_t kind);
/** Sends the frame and unlocks the pipe. False if the host is gone, or if a field did not fit. */
bool report_end(struct frame_writer *writer);

/** Stores the newest progress, and sends it if the last one was sent at least 50 ms ago and the pipe has
 *  space. If `message` is NULL, the previous one stays. Returns true if the control thread must be woken,
 *  so that it calls report_flush_due in time. */
bool report_progress(int64_t completed, int64_t total, const char *message);
/** Returns the milliseconds until report_flush_due should be called; -1 if there is no progress to send. */
int report_progress_timeout(void);
/** Sends progress if it is due, without waiting. */
void report_flush_due(void);
/** Sends the newest progress if it was not sent yet; waits for the pipe. */
void report_flush_progress(void);

#endif
