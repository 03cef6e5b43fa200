/* The task process, which runs one launch. */
#ifndef BGTASK_RUNNER_TASK_H
#define BGTASK_RUNNER_TASK_H

#include <stdbool.h>
#include <stdint.h>

/** The descriptors of a task's pipes. */
enum { TASK_CONTROL = 3, TASK_REPORT = 4 };
/** The descriptor at which a fresh task gets the *template* message. */
enum { TASK_MESSAGE = 5 };
/** The descriptor on which a fresh task sends the listener of its filter to the launcher. */
enum { TASK_LISTENER = 6 };

/** The exit statuses of a task that the handler did not choose (sysexits.h). */
enum { EXIT_LOAD_FAILED = 69, EXIT_PROTOCOL_ERROR = 70 };

/** Sends *load failed* on a report pipe and ends the process with EXIT_LOAD_FAILED. */
_Noreturn void task_refuse(int report, const char *finding);
/** The same for a call that failed with this error number: after a shortage, the host tries the launch again
 *  later. */
_Noreturn void task_refuse_call(int report, const char *finding, int code);

/** Prepares everything that does not depend on the launch. The isolation must be in force. On failure,
 *  returns false and sets errno. */
bool task_prepare(void);

/** Reads the launch from TASK_CONTROL, and restricts all threads of this process to it. The descriptors must
 *  be in place, the isolation in force, and task_prepare done. If it fails, it ends the process with a
 *  report. */
void task_enter_launch(void);

/** Runs the launch that was read, under its restriction.
 *
 *  `library` is the plugin's handle from dlopen, or NULL for a call program. `since` is when the process
 *  was requested, in nanoseconds on CLOCK_MONOTONIC. */
_Noreturn void task_run(void *library, int64_t since);

/** Runs `bgtask-runner task SINCE subprocesses|noSubprocesses [LIBRARY]`, a fresh process. Returns only
 *  for wrong arguments. */
int task_main(int count, char **arguments);

#endif
