/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the libraries of a call program and finds all its functions before any of them is called. */
#include "call_program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* Makes libffi's description of a struct. */
static bool describe(call_struct *structure) {
    ffi_type **elements = calloc(structure->count + 1u, sizeof *elements);
    if (!elements)
        return false;
    for (size_t i = 0; i < structure->count; i++)
        elements[i] = call_ffi_type(structure->members[i]);
    structure->type = (ffi_type){.type = FFI_TYPE_STRUCT, .elements = elements};
    return ffi_get_struct_offsets(FFI_DEFAULT_ABI, &structure->type, NULL) == FFI_OK;
}

static bool describe_all(call_invocation *call, char *why, size_t why_size) {
    bool is_done = call->returned_struct.count == 0 || describe(&call->returned_struct);
    for (size_t i = 0; i < call->count && is_done; i++) {
        call_argument *argument = &call->arguments[i];
        is_done = argument->kind != CALL_ARGUMENT_STRUCT || describe(&argument->structure);
    }
    if (!is_done)
        snprintf(why, why_size, "libffi can't pass a struct of the function '%s'", call->function);
    return is_done;
}

static bool find(call_program *program, void **handles, call_invocation *call, char *why, size_t why_size) {
    (void)dlerror();
    void *address = dlsym(handles[call->library], call->function);
    if (!address) {
        const char *text = dlerror();
        snprintf(why, why_size, "there is no function '%s' in %s: %s", call->function,
                 program->libraries[call->library], text ? text : "its address is NULL");
        return false;
    }
    /* ISO C does not allow a cast from an object pointer to a function pointer, but POSIX guarantees that
     * it works. */
    call->address = (void (*)(void))(uintptr_t)address;
    return describe_all(call, why, why_size);
}

bool call_load(call_program *program, char *why, size_t why_size) {
    void **handles = calloc(program->library_count + 1u, sizeof *handles);
    if (!handles) {
        snprintf(why, why_size, "there is not enough memory for its libraries");
        return false;
    }
    for (size_t i = 0; i < program->library_count; i++) {
        handles[i] = dlopen(program->libraries[i], RTLD_LAZY | RTLD_LOCAL);
        if (!handles[i]) {
            const char *text = dlerror();
            snprintf(why, why_size, "%s", text ? text : program->libraries[i]);
            free(handles);
            return false;
        }
    }
    bool is_found = true;
    for (size_t i = 0; i < program->step_count && is_found; i++) {
        call_step *step = &program->steps[i];
        if (step->kind == CALL_STEP_INVOKE)
            is_found = find(program, handles, &step->invocation, why, why_size);
    }
    if (is_found && program->has_message)
        is_found = find(program, handles, &program->message, why, why_size);
    if (is_found && program->has_on_expiration)
        is_found = find(program, handles, &program->on_expiration, why, why_size);
    free(handles);
    return is_found;
}
