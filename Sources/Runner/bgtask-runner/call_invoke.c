/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one call: prepares its arguments, calls the function with libffi, and stores the results. */
#include "call_machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The greatest length of what a crash report says about a call. */
enum { CALL_DESCRIPTION = 1000 };

/* libffi returns an integer that is smaller than a register as a wide one. */
static call_storage narrowed(const call_storage *returned, call_type type) {
    call_storage value = *returned;
    if (call_is_integer(type))
        call_store_integer(&value, type, (int64_t)returned->wide);
    return value;
}

/* Changes a name; `size` is NULL for a value without a known size. */
static void bind(call_machine *machine, uint16_t name, call_type type, const call_storage *value,
                 const size_t *size, bool is_constant, bool holds_lock) {
    if (!holds_lock)
        pthread_mutex_lock(&machine->lock);
    call_name *slot = &machine->program.names[name];
    slot->type = type;
    slot->value = *value;
    slot->has_size = size != NULL;
    slot->size = size != NULL ? *size : 0;
    slot->is_constant = is_constant;
    slot->state = CALL_LIVE;
    slot->bindings++;
    if (!holds_lock)
        pthread_mutex_unlock(&machine->lock);
}

void call_bind(call_machine *machine, uint16_t name, call_type type, const call_storage *value,
               bool holds_lock) {
    bind(machine, name, type, value, NULL, false, holds_lock);
}

void call_bind_memory(call_machine *machine, uint16_t name, void *address, size_t size, bool is_constant,
                      bool holds_lock) {
    call_storage value = {.u64 = 0};
    value.address = address;
    bind(machine, name, CALL_POINTER, &value, &size, is_constant, holds_lock);
}

/* The name that an argument needs, or -1. */
static int needed(const call_argument *argument) {
    switch (argument->kind) {
    case CALL_ARGUMENT_USE:
    case CALL_ARGUMENT_SIZE_OF:
    case CALL_ARGUMENT_STRUCT:
        return argument->name;
    case CALL_ARGUMENT_FIELD:
        return argument->field.name;
    case CALL_ARGUMENT_LITERAL:
    case CALL_ARGUMENT_INOUT:
    case CALL_ARGUMENT_BUFFER:
        return argument->value.kind == CALL_NAME ? argument->value.name : -1;
    default:
        return -1;
    }
}

bool call_is_usable(const call_machine *machine, const call_invocation *call) {
    for (size_t i = 0; i < call->count; i++) {
        int index = needed(&call->arguments[i]);
        if (index < 0)
            continue;
        const call_name *name = &machine->program.names[index];
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

/* Makes a buffer. In a loop, each round has the same memory, unless it needs more. */
static bool make_buffer(call_machine *machine, const call_invocation *call, call_argument *argument,
                        bool holds_lock) {
    call_storage size;
    if (!call_store_value(&machine->program, &size, CALL_SIZE, &argument->value))
        return fail(call->function, "the size of a buffer", "the name that gives it has no value");
    bool is_reused = argument->memory != NULL && argument->memory_size >= size.u64;
    void *memory = is_reused ? argument->memory : calloc(size.u64 ? size.u64 : 1, 1);
    if (!memory) {
        char what[64];
        snprintf(what, sizeof what, "a buffer of %" PRIu64 " bytes", size.u64);
        return fail(call->function, what, strerror(ENOMEM));
    }
    if (is_reused) {
        memset(memory, 0, size.u64);
    } else {
        argument->memory = memory;
        argument->memory_size = size.u64;
    }
    call_bind_memory(machine, argument->name, memory, size.u64, false, holds_lock);
    return true;
}

/* Computes the value of an argument; an out or inout argument points to `cell`. */
static bool prepare(call_machine *machine, const call_invocation *call, call_argument *argument,
                    bool holds_lock, call_storage *value, call_type *type, call_storage *cell) {
    const call_name *name = &machine->program.names[argument->name];
    value->u64 = 0;
    *type = CALL_POINTER;
    switch (argument->kind) {
    case CALL_ARGUMENT_LITERAL:
        *type = argument->type;
        if (call_store_value(&machine->program, value, argument->type, &argument->value))
            return true;
        if (argument->value.kind == CALL_NAME)
            return fail(call->function, machine->program.names[argument->value.name].text,
                        "it has no value, or one that does not fit the type of the argument");
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
            return fail(call->function, name->text,
                        "its initial value is a name without a value, or does not fit its type");
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
        /* In a loop, the contents of the round before are given back. */
        if (argument->memory_size > 0)
            munmap(argument->memory, argument->memory_size);
        argument->memory = address;
        argument->memory_size = size;
        call_bind_memory(machine, argument->name, address, size, true, holds_lock);
        value->address = address;
        return true;
    }
    case CALL_ARGUMENT_FIELD: {
        char why[sizeof call_failure];
        *type = argument->field.type;
        if (call_read_field(machine, &argument->field, value))
            return true;
        memcpy(why, call_failure, sizeof why);
        snprintf(call_failure, sizeof call_failure, "%s: %.700s", call->function, why);
        return false;
    }
    case CALL_ARGUMENT_LIST:
        value->address = argument->texts;
        return true;
    case CALL_ARGUMENT_STRUCT:
        if (name->state != CALL_LIVE || !name->value.address)
            return fail(call->function, name->text,
                        name->state == CALL_ENDED  ? "a step has ended it"
                        : name->state == CALL_LIVE ? "it is NULL"
                                                   : "no step has given it a value");
        if (name->has_size && name->size < argument->structure.type.size)
            return fail(call->function, name->text, "its memory is smaller than the struct");
        value->address = name->value.address;
        return true;
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

bool call_invoke(call_machine *machine, call_invocation *call, bool holds_lock, call_result *result) {
    call_storage values[CALL_MAX_ARGUMENTS];
    void *pointers[CALL_MAX_ARGUMENTS];
    call_type kinds[CALL_MAX_ARGUMENTS];
    ffi_type *types[CALL_MAX_ARGUMENTS];
    /* Never freed, because the library may use the pointer to an out variable after the call. */
    if (call->cells == NULL)
        call->cells = calloc(call->count + 1u, sizeof *call->cells);
    if (call->cells == NULL)
        return fail(call->function, "its arguments", strerror(ENOMEM));
    memset(call->cells, 0, call->count * sizeof *call->cells);
    for (size_t i = 0; i < call->count; i++) {
        if (!prepare(machine, call, &call->arguments[i], holds_lock, &values[i], &kinds[i], &call->cells[i]))
            return false;
        if (call->variadic_from && i + 1 >= call->variadic_from)
            promote(&values[i], &kinds[i]);
        bool is_struct = call->arguments[i].kind == CALL_ARGUMENT_STRUCT;
        pointers[i] = is_struct ? values[i].address : &values[i];
        types[i] = is_struct ? &call->arguments[i].structure.type : call_ffi_type(kinds[i]);
    }
    ffi_cif cif;
    bool returns_struct = call->returned_struct.count > 0;
    ffi_type *returns = returns_struct ? &call->returned_struct.type : call_ffi_type(call->returns);
    ffi_status status =
        call->variadic_from
            ? ffi_prep_cif_var(&cif, FFI_DEFAULT_ABI, call->variadic_from - 1u, call->count, returns, types)
            : ffi_prep_cif(&cif, FFI_DEFAULT_ABI, call->count, returns, types);
    if (status != FFI_OK)
        return fail(call->function, "its signature", "libffi can't make this call");
    call_storage returned = {.u64 = 0};
    /* libffi writes at least a whole register. */
    if (returns_struct && call->struct_memory == NULL)
        call->struct_memory = calloc(1, returns->size + sizeof(ffi_arg));
    if (returns_struct && call->struct_memory == NULL)
        return fail(call->function, "the struct that it returns", strerror(ENOMEM));
    /* The call for expiration runs on another thread, beside a step. */
    static char of_steps[CALL_DESCRIPTION], of_expiration[CALL_DESCRIPTION];
    bool is_expiration = call == &machine->program.on_expiration;
    char *activity = is_expiration ? of_expiration : of_steps;
    call_describe_call(machine, call, values, kinds, activity, CALL_DESCRIPTION);
    activity_set(activity, is_expiration);
    errno = 0;
    ffi_call(&cif, call->address, returns_struct ? call->struct_memory : (void *)&returned, pointers);
    result->error = errno;
    activity_set(NULL, is_expiration);
    result->value = narrowed(&returned, call->returns);
    for (size_t i = 0; i < call->count; i++) {
        const call_argument *argument = &call->arguments[i];
        if (argument->kind == CALL_ARGUMENT_OUT || argument->kind == CALL_ARGUMENT_INOUT)
            call_bind(machine, argument->name, argument->type, &call->cells[i], holds_lock);
    }
    return true;
}
