/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BGTASK_RUNNER_CALL_LOOP_H
#define BGTASK_RUNNER_CALL_LOOP_H

#include "call_machine.h"

/** How a loop ended. */
typedef enum call_loop_end {
    CALL_LOOP_CONTINUES, /* only inside of a loop */
    CALL_LOOP_DONE,
    CALL_LOOP_FAILED, /* the reason is in `call_failure` */
    CALL_LOOP_STOPPED /* the launch has expired */
} call_loop_end;

/** Runs a loop; its steps follow it in the program. */
call_loop_end call_run_loop(call_machine *machine, call_step *loop);

#endif
