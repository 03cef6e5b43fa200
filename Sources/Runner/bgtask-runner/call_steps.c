/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one step: a call, a file, or a member of a struct. */
#include "call_steps.h"

#include "call_expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Appends the library's own error text and the description of errno to call_failure. */
static void explain(call_machine *machine, const call_step *step, int error) {
    char *failure = call_failure;
    size_t size = sizeof call_failure, length = strlen(failure);
    call_result result;
    if (machine->program.has_message && call_is_usable(machine, &machine->program.message)) {
        char kept[sizeof call_failure];
        memcpy(kept, failure, sizeof kept);
        bool is_told = call_invoke(machine, &machine->program.message, false, &result);
        memcpy(failure, kept, sizeof kept);
        const char *text = is_told ? result.value.address : NULL;
        if (text != NULL && machine->program.has_message_offset)
            memcpy(&text, text + machine->program.message_offset, sizeof text);
        if (text != NULL) {
            snprintf(failure + length, size - length, ": %.500s", text);
            length = strlen(failure);
        }
    }
    if (step->reads_errno && error != 0) {
        char text[128];
        snprintf(failure + length, size - length, ": %s (%d)", strerror_r(error, text, sizeof text), error);
    }
}

static bool save(call_machine *machine, const call_step *step) {
    const call_name *from = &machine->program.names[step->name];
    call_storage length = {.u64 = 0};
    const char *why = NULL;
    bool is_pointer = from->type == CALL_POINTER || from->type == CALL_STRING;
    bool is_text = step->operand.kind == CALL_NULL;
    if (from->state != CALL_LIVE || !is_pointer)
        why = "the name to save has no value";
    else if (!is_text && !call_store_value(&machine->program, &length, CALL_SIZE, &step->operand))
        why = "the length to save has no value";
    else if (from->has_size && length.u64 > from->size)
        why = "the length to save is greater than the size of the memory";
    else if (!from->value.address && (is_text || length.u64 > 0))
        why = "the pointer to save is NULL";
    if (!why) {
        if (is_text)
            length.u64 =
                from->has_size ? strnlen(from->value.address, from->size) : strlen(from->value.address);
        int code = call_save(step->path, from->value.address, length.u64);
        if (code == 0)
            return true;
        why = strerror(code);
    }
    snprintf(call_failure, sizeof call_failure, "save %.500s: %s", step->path, why);
    return false;
}

static bool open_file(call_machine *machine, call_step *step) {
    bool is_mapped = step->kind == CALL_STEP_MAP;
    void *address = NULL;
    size_t size = 0;
    int code =
        is_mapped ? call_map_file(step->path, &address, &size) : call_read_file(step->path, &address, &size);
    if (code != 0) {
        snprintf(call_failure, sizeof call_failure, "%s %.500s: %s", is_mapped ? "map" : "read", step->path,
                 strerror(code));
        return false;
    }
    /* In a loop, the contents of the round before are given back. */
    if (is_mapped && step->memory_size > 0)
        munmap(step->memory, step->memory_size);
    else if (!is_mapped)
        free(step->memory);
    step->memory = address;
    step->memory_size = size;
    call_bind_memory(machine, step->name, address, size, is_mapped, false);
    return true;
}

static bool get(call_machine *machine, const call_step *step) {
    call_storage value;
    if (!call_read_field(machine, &step->field, &value))
        return false;
    if (step->has_result)
        call_bind(machine, step->result, step->field.type, &value, false);
    if (call_is_expected(step, step->field.type, &value))
        return true;
    char subject[200];
    snprintf(subject, sizeof subject, "the member at offset %u of '%s' is", (unsigned)step->field.offset,
             machine->program.names[step->field.name].text);
    call_describe_result(step, subject, step->field.type, &value, call_failure, sizeof call_failure);
    return false;
}

static bool invoke(call_machine *machine, call_step *step) {
    call_result result;
    call_type type = step->invocation.returns;
    bool holds_lock = step->ends_count > 0;
    if (holds_lock)
        pthread_mutex_lock(&machine->lock);
    bool is_done = call_invoke(machine, &step->invocation, holds_lock, &result);
    const call_struct *structure = &step->invocation.returned_struct;
    if (is_done && step->has_result && structure->count > 0)
        call_bind_memory(machine, step->result, step->invocation.struct_memory, structure->type.size, false,
                         holds_lock);
    else if (is_done && step->has_result)
        call_bind(machine, step->result, type, &result.value, holds_lock);
    for (size_t i = 0; is_done && i < step->ends_count; i++)
        machine->program.names[step->ends[i]].state = CALL_ENDED;
    if (holds_lock)
        pthread_mutex_unlock(&machine->lock);
    if (!is_done)
        return false;
    if (call_is_expected(step, type, &result.value))
        return true;
    char subject[300];
    snprintf(subject, sizeof subject, "%.255s returned", step->invocation.function);
    call_describe_result(step, subject, type, &result.value, call_failure, sizeof call_failure);
    explain(machine, step, result.error);
    return false;
}

bool call_run_step(call_machine *machine, call_step *step) {
    switch (step->kind) {
    case CALL_STEP_INVOKE:
        return invoke(machine, step);
    case CALL_STEP_SAVE:
        return save(machine, step);
    case CALL_STEP_MAP:
    case CALL_STEP_READ:
        return open_file(machine, step);
    case CALL_STEP_GET:
        return get(machine, step);
    case CALL_STEP_SET:
        return call_write_field(machine, &step->field, &step->operand);
    case CALL_STEP_LOOP:
        break;
    }
    snprintf(call_failure, sizeof call_failure, "the program has a loop in a loop");
    return false;
}
