/* The report pipe: frames to the host, one at a time; progress coalesced. Any thread. */
#ifndef BGTASK_RUNNER_REPORT_H
#define BGTASK_RUNNER_REPORT_H

#include "frames.h"

#include <pthread.h>

/** Makes the pipe non-blocking. Call once, before any thread. */
void report_start(int descriptor);
/** Names the thread that must never wait long. */
void report_set_control_thread(pthread_t thread);
/** True on the control thread. */
bool report_is_control_thread(void);

/** Takes the pipe for one frame. NULL if this is the control thread and the pipe stayed taken for 2 s. */
struct frame_writer *report_begin(uint8_t kind);
/** Sends the frame and gives the pipe back. False if the host is gone, or a field did not fit. */
bool report_end(struct frame_writer *writer);

/** Keeps the newest progress and sends it if none went for 50 ms and the pipe has room; else it is due later.
 *  `message` NULL keeps the last one. True if report_flush_due must be called in time by the control thread. */
bool report_progress(int64_t completed, int64_t total, const char *message);
/** Milliseconds until report_flush_due should be called; -1 if nothing is due. */
int report_progress_timeout(void);
/** Sends progress that is due, without waiting for anything. */
void report_flush_due(void);
/** Sends the last progress if it has not been sent, waiting for the pipe. */
void report_flush_progress(void);

#endif
