/* SPDX-License-Identifier: Apache-2.0 */
/* Repeats the steps of a loop while a value fulfills its condition. */
#include "call_loop.h"

#include "call_expect.h"
#include "call_steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool holds(const call_step *loop, const call_name *name) {
    return call_is_expected(loop, name->type, &name->value);
}

static void report_round(call_machine *machine) {
    if (machine->has_units)
        return;
    char text[32];
    snprintf(text, sizeof text, "round %" PRIu32, machine->round);
    machine->host->progress(machine->task, atomic_fetch_add(&machine->ticks, 1) + 1, 0, text);
}

/* Adds the place to the reason of a failure, because the function's name does not say which round it was. */
static void add_place(const call_machine *machine) {
    size_t length = strlen(call_failure);
    char place[64];
    call_describe_place(machine, place, sizeof place);
    snprintf(call_failure + length, sizeof call_failure - length, " (%s)", place);
}

/* Runs the steps once. */
static call_loop_end run_round(call_machine *machine, call_step *loop, const call_name *name) {
    for (unsigned i = 1; i <= loop->body_count; i++) {
        if (machine->host->expired(machine->task, NULL) != 0)
            return CALL_LOOP_STOPPED;
        machine->inner = i;
        uint32_t bindings = name->bindings;
        if (!call_run_step(machine, &loop[i])) {
            add_place(machine);
            return CALL_LOOP_FAILED;
        }
        /* The condition is checked as soon as there is a new value: after the last header of an archive,
         * there is no entry for the steps that follow. */
        if (name->bindings != bindings && !holds(loop, name))
            return CALL_LOOP_DONE;
    }
    return CALL_LOOP_CONTINUES;
}

call_loop_end call_run_loop(call_machine *machine, call_step *loop) {
    const call_name *name = &machine->program.names[loop->name];
    if (name->state == CALL_LIVE && !holds(loop, name))
        return CALL_LOOP_DONE;
    call_loop_end end = CALL_LOOP_CONTINUES;
    for (uint32_t round = 1; end == CALL_LOOP_CONTINUES && round <= loop->at_most; round++) {
        machine->round = round;
        end = run_round(machine, loop, name);
        if (end == CALL_LOOP_CONTINUES)
            report_round(machine);
        if (round == UINT32_MAX)
            break;
    }
    machine->inner = 0;
    if (end != CALL_LOOP_CONTINUES)
        return end;
    snprintf(call_failure, sizeof call_failure,
             "repeat: after %" PRIu32 " rounds (atMost), '%s' still fulfills its condition", loop->at_most,
             name->text);
    return CALL_LOOP_FAILED;
}
