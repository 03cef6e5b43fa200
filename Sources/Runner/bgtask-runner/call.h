/* Call programs: `call:` of a manifest, run by libffi (Documentation/RunnerProtocol.md, "Call programs"). */
#ifndef BGTASK_RUNNER_CALL_H
#define BGTASK_RUNNER_CALL_H

#include "bgtask.h"

/** Runs a program to its end and completes the task. Called once, on the main thread, in place of a plugin's `run`;
 *  `program` may hold anything: it is checked, and one that is malformed fails the launch. */
void call_run(bgtask_task *task, const bgtask_host *host, const uint8_t *program, size_t length);

#endif
