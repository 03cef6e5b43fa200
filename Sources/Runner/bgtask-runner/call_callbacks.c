/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that libraries can call back: libffi closures that report progress and return whether to
 * stop. */
#include "call_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct closure_context {
    call_machine *machine;
    const call_callback *callback;
} closure_context;

static void report(call_machine *machine, const call_callback *callback, void **arguments) {
    if (callback->counts) {
        long long ticks = atomic_fetch_add(&machine->ticks, 1) + 1;
        machine->host->progress(machine->task, ticks, 0, NULL);
    }
    if (callback->completed == 0)
        return;
    int64_t units[2] = {0, 0};
    const uint8_t positions[2] = {callback->completed, callback->total};
    for (int i = 0; i < 2; i++) {
        if (positions[i] == 0)
            continue;
        call_storage value = {.u64 = 0};
        call_type type = callback->parameters[positions[i] - 1];
        memcpy(&value, arguments[positions[i] - 1], call_ffi_type(type)->size);
        units[i] = call_load_integer(&value, type);
        if (units[i] < 0)
            units[i] = 0;
    }
    machine->host->progress(machine->task, units[0], units[1], NULL);
}

/* Called by the library, on any thread. */
static void called(ffi_cif *cif, void *result, void **arguments, void *user) {
    (void)cif;
    const closure_context *context = user;
    call_machine *machine = context->machine;
    const call_callback *callback = context->callback;
    report(machine, callback, arguments);
    if (callback->returns == CALL_VOID)
        return;
    bool is_expired = machine->host->expired(machine->task, NULL) != 0;
    call_storage value;
    call_store_value(&machine->program, &value, callback->returns,
                     is_expired ? &callback->stop : &callback->proceed);
    if (call_is_integer(callback->returns)) {
        /* libffi requires small integers to be widened to ffi_arg. */
        ffi_arg wide = (ffi_arg)call_load_integer(&value, callback->returns);
        memcpy(result, &wide, sizeof wide);
    } else {
        memcpy(result, &value, call_ffi_type(callback->returns)->size);
    }
}

bool call_make_callbacks(call_machine *machine) {
    for (size_t i = 0; i < machine->program.callback_count; i++) {
        call_callback *callback = &machine->program.callbacks[i];
        ffi_cif *cif = calloc(1, sizeof *cif);
        ffi_type **types = calloc(callback->count + 1u, sizeof(ffi_type *));
        closure_context *context = calloc(1, sizeof *context);
        ffi_closure *closure = ffi_closure_alloc(sizeof *closure, &callback->code);
        if (callback->completed)
            machine->has_units = true;
        if (cif && types && context && closure) {
            for (size_t j = 0; j < callback->count; j++)
                types[j] = call_ffi_type(callback->parameters[j]);
            *context = (closure_context){machine, callback};
            ffi_type *returns = call_ffi_type(callback->returns);
            if (ffi_prep_cif(cif, FFI_DEFAULT_ABI, callback->count, returns, types) == FFI_OK &&
                ffi_prep_closure_loc(closure, cif, called, context, callback->code) == FFI_OK)
                continue;
        }
        snprintf(call_failure, sizeof call_failure, "libffi can't create callback %zu of the manifest",
                 i + 1);
        return false;
    }
    return true;
}
