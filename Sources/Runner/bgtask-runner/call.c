/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a call program, from its first step to the completion of the task. */
#include "call.h"

#include "call_loop.h"
#include "call_machine.h"
#include "call_steps.h"

#include <stdio.h>
#include <string.h>

static call_machine machine = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Called on the control thread when the launch expires. */
static void expire(bgtask_task *task, const bgtask_expiration *expiration, void *context) {
    (void)task;
    (void)expiration;
    (void)context;
    if (!machine.program.has_on_expiration)
        return;
    call_invocation *call = &machine.program.on_expiration;
    call_result result;
    pthread_mutex_lock(&machine.lock);
    if (call_is_usable(&machine, call)) {
        /* A failure is not reported here: the main thread reports the result of the step that was stopped. */
        (void)call_invoke(&machine, call, true, &result);
    }
    pthread_mutex_unlock(&machine.lock);
}

/* Runs a step, and reports it as a unit of progress; a loop reports its rounds. */
static call_loop_end run(call_step *step) {
    if (step->kind == CALL_STEP_LOOP)
        return call_run_loop(&machine, step);
    if (!call_run_step(&machine, step))
        return CALL_LOOP_FAILED;
    if (!machine.has_units) {
        static const char *const names[] = {[CALL_STEP_SAVE] = "save",
                                            [CALL_STEP_MAP] = "map",
                                            [CALL_STEP_READ] = "read",
                                            [CALL_STEP_GET] = "get",
                                            [CALL_STEP_SET] = "set"};
        const char *name = step->kind == CALL_STEP_INVOKE ? step->invocation.function : names[step->kind];
        machine.host->progress(machine.task, atomic_fetch_add(&machine.ticks, 1) + 1, 0, name);
    }
    return CALL_LOOP_DONE;
}

static void run_steps(void) {
    bool is_failed = false, is_skipped = false;
    char first[sizeof call_failure] = "";
    const call_program *program = &machine.program;
    for (size_t i = 0; i < program->step_count; i += 1u + program->steps[i].body_count) {
        call_step *step = &program->steps[i];
        machine.step++;
        bool is_expired = machine.host->expired(machine.task, NULL) != 0;
        bool is_cleaning = is_failed || is_expired;
        if (is_cleaning && !step->always) {
            is_skipped = true;
            continue;
        }
        /* If a step failed before it created something, the name for it has no value, and there is nothing
         * to clean up. */
        if (is_cleaning && step->kind == CALL_STEP_INVOKE && !call_is_usable(&machine, &step->invocation))
            continue;
        call_loop_end end = run(step);
        if (end == CALL_LOOP_FAILED) {
            if (!is_failed)
                memcpy(first, call_failure, sizeof first);
            is_failed = true;
        }
        is_skipped = is_skipped || end == CALL_LOOP_STOPPED;
    }
    if (is_failed)
        machine.host->complete(machine.task, 0, first);
    else
        machine.host->complete(machine.task, !is_skipped, is_skipped ? "stopped between two steps" : NULL);
}

const char *call_prepare(bgtask_task *task, const bgtask_host *host, const uint8_t *bytes, size_t length) {
    machine.task = task;
    machine.host = host;
    static char message[sizeof call_failure + 64];
    const char *finding = call_decode(&machine.program, bytes, length);
    if (finding) {
        snprintf(message, sizeof message,
                 "the call program from the host is malformed: %s; install bgtaskd and bgtask-runner from "
                 "one version",
                 finding);
        return message;
    }
    if (!call_load(&machine.program, call_failure, sizeof call_failure) || !call_make_callbacks(&machine)) {
        snprintf(message, sizeof message, "the call can't be loaded: %s", call_failure);
        return message;
    }
    /* If there is nothing to stop and nothing to clean up, no handler is set, so an expiration ends the
     * process immediately. The handler must be set before *ready* is sent, because an expire frame may
     * follow immediately. */
    bool can_stop = machine.program.has_on_expiration || machine.program.callback_count > 0;
    for (size_t i = 0; i < machine.program.step_count; i++)
        can_stop = can_stop || machine.program.steps[i].always || machine.program.steps[i].body_count > 0;
    if (can_stop)
        host->set_expiration_handler(task, expire, NULL);
    return NULL;
}

void call_run(void) {
    run_steps();
}
