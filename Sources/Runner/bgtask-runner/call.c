/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a call program, from its first step to the completion of the task. */
#include "call.h"

#include "call_expect.h"
#include "call_machine.h"

#include <stdio.h>
#include <string.h>

static call_machine machine = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Appends the library's own error text and the description of errno to call_failure. */
static void explain(const call_step *step, int error) {
    char *failure = call_failure;
    size_t size = sizeof call_failure, length = strlen(failure);
    call_result result;
    if (machine.program.has_message && call_is_usable(&machine, &machine.program.message)) {
        char kept[sizeof call_failure];
        memcpy(kept, failure, sizeof kept);
        bool is_told = call_invoke(&machine, &machine.program.message, false, &result);
        memcpy(failure, kept, sizeof kept);
        if (is_told && result.value.address) {
            snprintf(failure + length, size - length, ": %.500s", (const char *)result.value.address);
            length = strlen(failure);
        }
    }
    if (step->reads_errno && error != 0) {
        char text[128];
        snprintf(failure + length, size - length, ": %s (%d)", strerror_r(error, text, sizeof text), error);
    }
}

static bool save(const call_step *step) {
    const call_name *from = &machine.program.names[step->from];
    call_storage length;
    const char *why = NULL;
    bool is_pointer = from->type == CALL_POINTER || from->type == CALL_STRING;
    if (from->state != CALL_LIVE || !is_pointer)
        why = "the name to save has no value";
    else if (!call_store_value(&machine.program, &length, CALL_SIZE, &step->length))
        why = "the length to save has no value";
    else if (from->has_size && length.u64 > from->size)
        why = "the length to save is greater than the size of the memory";
    else if (!from->value.address && length.u64 > 0)
        why = "the pointer to save is NULL";
    if (!why) {
        int code = call_save(step->path, from->value.address, length.u64);
        if (code == 0)
            return true;
        why = strerror(code);
    }
    snprintf(call_failure, sizeof call_failure, "save %.500s: %s", step->path, why);
    return false;
}

static bool run_step(const call_step *step) {
    if (step->is_save)
        return save(step);
    call_result result;
    bool holds_lock = step->ends_count > 0;
    if (holds_lock)
        pthread_mutex_lock(&machine.lock);
    bool is_done = call_invoke(&machine, &step->invocation, holds_lock, &result);
    if (is_done && step->has_result)
        call_bind(&machine, step->result, step->invocation.returns, &result.value, holds_lock);
    for (size_t i = 0; is_done && i < step->ends_count; i++)
        machine.program.names[step->ends[i]].state = CALL_ENDED;
    if (holds_lock)
        pthread_mutex_unlock(&machine.lock);
    if (!is_done)
        return false;
    if (call_is_expected(step, &result.value))
        return true;
    call_describe_result(step, &result.value, call_failure, sizeof call_failure);
    explain(step, result.error);
    return false;
}

/* Called on the control thread when the launch expires. */
static void expire(bgtask_task *task, const bgtask_expiration *expiration, void *context) {
    (void)task;
    (void)expiration;
    (void)context;
    if (!machine.program.has_on_expiration)
        return;
    const call_invocation *call = &machine.program.on_expiration;
    call_result result;
    pthread_mutex_lock(&machine.lock);
    if (call_is_usable(&machine, call)) {
        /* A failure is not reported here: the main thread reports the result of the step that was stopped. */
        (void)call_invoke(&machine, call, true, &result);
    }
    pthread_mutex_unlock(&machine.lock);
}

static void run_steps(void) {
    bool is_failed = false, is_skipped = false;
    char first[sizeof call_failure] = "";
    const call_program *program = &machine.program;
    for (size_t i = 0; i < program->step_count; i++) {
        const call_step *step = &program->steps[i];
        bool is_expired = machine.host->expired(machine.task, NULL) != 0;
        bool is_cleaning = is_failed || is_expired;
        if (is_cleaning && !step->always) {
            is_skipped = true;
            continue;
        }
        /* If a step failed before it created something, the name for it has no value, and there is nothing
         * to clean up. */
        if (is_cleaning && !step->is_save && !call_is_usable(&machine, &step->invocation))
            continue;
        if (!run_step(step)) {
            if (!is_failed)
                memcpy(first, call_failure, sizeof first);
            is_failed = true;
        } else if (!machine.has_units) {
            const char *name = step->is_save ? "save" : step->invocation.function;
            machine.host->progress(machine.task, atomic_fetch_add(&machine.ticks, 1) + 1, 0, name);
        }
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
        can_stop = can_stop || machine.program.steps[i].always;
    if (can_stop)
        host->set_expiration_handler(task, expire, NULL);
    return NULL;
}

void call_run(void) {
    run_steps();
}
