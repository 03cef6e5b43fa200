/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BGTASK_RUNNER_CALL_STEPS_H
#define BGTASK_RUNNER_CALL_STEPS_H

#include "call_machine.h"

/** Runs one step that is not a loop. On failure, returns false with the reason in `call_failure`. */
bool call_run_step(call_machine *machine, call_step *step);

#endif
