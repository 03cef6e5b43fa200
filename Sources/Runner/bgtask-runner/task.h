/* The task process: one launch. */
#ifndef BGTASK_RUNNER_TASK_H
#define BGTASK_RUNNER_TASK_H

#include <stdbool.h>
#include <stdint.h>

/** Where a task's pipes are. */
enum { TASK_CONTROL = 3, TASK_REPORT = 4 };

/** Exit statuses of a task that are not the handler's (sysexits.h). */
enum { EXIT_LOAD_FAILED = 69, EXIT_PROTOCOL_ERROR = 70 };

/** Sends *load failed* on a report pipe and ends the process with EXIT_LOAD_FAILED. */
_Noreturn void task_refuse(int report, const char *finding);

/** Does what a task can do before its launch is known; the isolation is in force. False with errno. */
bool task_prepare(void);

/** Runs the launch that comes on TASK_CONTROL.
 *
 *  `library` is the plugin's handle from dlopen, or NULL for a call program. `since` is when the process was
 * asked
 *  for (CLOCK_MONOTONIC nanoseconds). The descriptors are in place and the isolation is in force. */
_Noreturn void task_run(void *library, int64_t since);

/** `bgtask-runner task SINCE subprocesses|noSubprocesses [LIBRARY]`: a fresh process. */
int task_main(int count, char **arguments);

#endif
