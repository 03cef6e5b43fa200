/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one call: prepares its arguments, calls the function with libffi, and stores the results. */
#include "call_machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libffi returns an integer that is smaller than a register as a wide one. */
static call_storage narrowed(const call_storage *returned, call_type type) {
    call_storage value = *returned;
    if (call_is_integer(type))
        call_store_integer(&value, type, (int64_t)returned->wide);
    return value;
}

void call_bind(call_machine *machine, uint16_t name, call_type type, const call_storage *value,
               bool holds_lock) {
    if (!holds_lock)
        pthread_mutex_lock(&machine->lock);
    call_name *slot = &machine->program.names[name];
    slot->type = type;
    slot->value = *value;
    slot->has_size = false;
    slot->state = CALL_LIVE;
    if (!holds_lock)
        pthread_mutex_unlock(&machine->lock);
}

static void bind_memory(call_machine *machine, uint16_t name, void *address, size_t size, bool holds_lock) {
    if (!holds_lock)
        pthread_mutex_lock(&machine->lock);
    call_name *slot = &machine->program.names[name];
    slot->type = CALL_POINTER;
    slot->value.u64 = 0;
    slot->value.address = address;
    slot->has_size = true;
    slot->size = size;
    slot->state = CALL_LIVE;
    if (!holds_lock)
        pthread_mutex_unlock(&machine->lock);
}

bool call_is_usable(const call_machine *machine, const call_invocation *call) {
    for (size_t i = 0; i < call->count; i++) {
        const call_argument *argument = &call->arguments[i];
        bool is_used = argument->kind == CALL_ARGUMENT_USE || argument->kind == CALL_ARGUMENT_SIZE_OF;
        bool is_source = (argument->kind == CALL_ARGUMENT_INOUT || argument->kind == CALL_ARGUMENT_BUFFER) &&
                         argument->value.kind == CALL_NAME;
        if (!is_used && !is_source)
            continue;
        const call_name *name = &machine->program.names[is_used ? argument->name : argument->value.name];
        if (name->state != CALL_LIVE)
            return false;
        bool is_pointer = name->type == CALL_POINTER || name->type == CALL_STRING;
        if (is_pointer && name->value.address == NULL)
            return false;
    }
    return true;
}

static bool fail(const char *function, const char *what, const char *why) {
    snprintf(call_failure, sizeof call_failure, "%s: %.500s: %s", function, what, why);
    return false;
}

static bool make_buffer(call_machine *machine, const call_invocation *call, const call_argument *argument,
                        bool holds_lock) {
    call_storage size;
    if (!call_store_value(&machine->program, &size, CALL_SIZE, &argument->value))
        return fail(call->function, "the size of a buffer", "the name that gives it has no value");
    void *memory = calloc(size.u64 ? size.u64 : 1, 1);
    if (!memory) {
        char what[64];
        snprintf(what, sizeof what, "a buffer of %" PRIu64 " bytes", size.u64);
        return fail(call->function, what, strerror(ENOMEM));
    }
    bind_memory(machine, argument->name, memory, size.u64, holds_lock);
    return true;
}

/* Computes the value of an argument; an out or inout argument points to `cell`. */
static bool prepare(call_machine *machine, const call_invocation *call, const call_argument *argument,
                    bool holds_lock, call_storage *value, call_type *type, call_storage *cell) {
    const call_name *name = &machine->program.names[argument->name];
    value->u64 = 0;
    *type = CALL_POINTER;
    switch (argument->kind) {
    case CALL_ARGUMENT_LITERAL:
        *type = argument->type;
        if (call_store_value(&machine->program, value, argument->type, &argument->value))
            return true;
        return fail(call->function, "an argument", "its value does not fit its type");
    case CALL_ARGUMENT_STRING:
        value->address = (void *)(uintptr_t)argument->text;
        return true;
    case CALL_ARGUMENT_NULL:
        return true;
    case CALL_ARGUMENT_USE:
        if (name->state != CALL_LIVE)
            return fail(call->function, name->text,
                        name->state == CALL_ENDED ? "a step has ended it" : "no step has given it a value");
        *type = name->type;
        *value = name->value;
        return true;
    case CALL_ARGUMENT_SIZE_OF:
        if (name->state != CALL_LIVE || !name->has_size)
            return fail(call->function, name->text, "it has no size");
        *type = CALL_SIZE;
        value->u64 = name->size;
        return true;
    case CALL_ARGUMENT_INOUT:
        if (!call_store_value(&machine->program, cell, argument->type, &argument->value))
            return fail(call->function, name->text, "its initial value is a name without a value");
        value->address = cell;
        return true;
    case CALL_ARGUMENT_OUT:
        value->address = cell;
        return true;
    case CALL_ARGUMENT_BUFFER:
        if (!make_buffer(machine, call, argument, holds_lock))
            return false;
        value->address = name->value.address;
        return true;
    case CALL_ARGUMENT_FILE: {
        void *address = NULL;
        size_t size = 0;
        int code = call_map_file(argument->text, &address, &size);
        if (code != 0)
            return fail(call->function, argument->text, strerror(code));
        bind_memory(machine, argument->name, address, size, holds_lock);
        value->address = address;
        return true;
    }
    case CALL_ARGUMENT_CALLBACK:
        value->address = machine->program.callbacks[argument->name].code;
        return true;
    }
    return fail(call->function, "an argument", "its kind is unknown");
}

/* Applies C's default argument promotions to a variadic argument. */
static void promote(call_storage *value, call_type *type) {
    if (*type == CALL_FLOAT) {
        double wide = (double)value->f32;
        value->f64 = wide;
        *type = CALL_DOUBLE;
    } else if (call_is_integer(*type) && call_ffi_type(*type)->size < sizeof(int)) {
        call_store_integer(value, CALL_INT, call_load_integer(value, *type));
        *type = CALL_INT;
    }
}

bool call_invoke(call_machine *machine, const call_invocation *call, bool holds_lock, call_result *result) {
    call_storage values[CALL_MAX_ARGUMENTS];
    void *pointers[CALL_MAX_ARGUMENTS];
    ffi_type *types[CALL_MAX_ARGUMENTS];
    /* Allocated and never freed, because the library may use the pointer to an out variable after the
     * call. */
    call_storage *cells = calloc(call->count + 1u, sizeof *cells);
    if (!cells)
        return fail(call->function, "its arguments", strerror(ENOMEM));
    for (size_t i = 0; i < call->count; i++) {
        call_type type;
        if (!prepare(machine, call, &call->arguments[i], holds_lock, &values[i], &type, &cells[i]))
            return false;
        if (call->variadic_from && i + 1 >= call->variadic_from)
            promote(&values[i], &type);
        pointers[i] = &values[i];
        types[i] = call_ffi_type(type);
    }
    ffi_cif cif;
    ffi_type *returns = call_ffi_type(call->returns);
    ffi_status status =
        call->variadic_from
            ? ffi_prep_cif_var(&cif, FFI_DEFAULT_ABI, call->variadic_from - 1u, call->count, returns, types)
            : ffi_prep_cif(&cif, FFI_DEFAULT_ABI, call->count, returns, types);
    if (status != FFI_OK)
        return fail(call->function, "its signature", "libffi can't make this call");
    call_storage returned = {.u64 = 0};
    errno = 0;
    ffi_call(&cif, call->address, &returned, pointers);
    result->error = errno;
    result->value = narrowed(&returned, call->returns);
    for (size_t i = 0; i < call->count; i++) {
        const call_argument *argument = &call->arguments[i];
        if (argument->kind == CALL_ARGUMENT_OUT || argument->kind == CALL_ARGUMENT_INOUT)
            call_bind(machine, argument->name, argument->type, &cells[i], holds_lock);
    }
    return true;
}
