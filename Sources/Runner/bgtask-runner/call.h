/* Call programs, which run the `call:` of a manifest with libffi (Documentation/RunnerProtocol.md, "Call
 * programs"). */
#ifndef BGTASK_RUNNER_CALL_H
#define BGTASK_RUNNER_CALL_H

#include "bgtask.h"

/** Decodes and checks a program, opens its libraries and sets its expiration handler. Returns NULL, or why
 *  the program cannot run. Called once, on the main thread, before the control thread starts and before
 *  *ready* is sent; it corresponds to loading a plugin. */
const char *call_prepare(bgtask_task *task, const bgtask_host *host, const uint8_t *program, size_t length);

/** Runs the prepared program and completes the task. It replaces the `run` function of a plugin. */
void call_run(void);

#endif
