/* Call programs: `call:` of a manifest, run by libffi (Documentation/RunnerProtocol.md, "Call programs"). */
#ifndef BGTASK_RUNNER_CALL_H
#define BGTASK_RUNNER_CALL_H

#include "bgtask.h"

/** Decodes a program, opens its libraries and sets its expiration handler; `program` may hold anything. Returns NULL,
 *  or why it can't run. Called once, on the main thread, before the control thread starts and *ready* is
 * sent: it is
 *  to a call what loading is to a plugin. */
const char *call_prepare(bgtask_task *task, const bgtask_host *host, const uint8_t *program, size_t length);

/** Runs the prepared program to its end and completes the task, in place of a plugin's `run`. */
void call_run(void);

#endif
