/* SPDX-License-Identifier: Apache-2.0 */
/* Members of structs: values at an offset from the address that a name has. */
#include "call_machine.h"

#include <stdio.h>
#include <string.h>

/* Finds a member. On failure, returns NULL with the reason in `call_failure`. */
static void *find(const call_machine *machine, const call_field *field) {
    const call_name *name = &machine->program.names[field->name];
    size_t size = call_ffi_type(field->type)->size;
    const char *why = NULL;
    if (name->state != CALL_LIVE)
        why = name->state == CALL_ENDED ? "a step has ended it" : "no step has given it a value";
    else if (name->type != CALL_POINTER && name->type != CALL_STRING)
        why = "it is not a pointer";
    else if (name->value.address == NULL)
        why = "it is NULL";
    else if (name->has_size && (field->offset > name->size || size > name->size - field->offset))
        why = "the member extends beyond its memory";
    if (why == NULL)
        return (uint8_t *)name->value.address + field->offset;
    snprintf(call_failure, sizeof call_failure, "the member at offset %u of '%s' can't be used: %s",
             (unsigned)field->offset, name->text, why);
    return NULL;
}

/* Sets what a crash report says, because a wrong address can crash the access to a member. */
static void begin(const call_machine *machine, const call_field *field, const char *access) {
    static char text[200];
    char place[64];
    call_describe_place(machine, place, sizeof place);
    snprintf(text, sizeof text, "%s: %s the member at offset %u of '%s' = %p", place, access,
             (unsigned)field->offset, machine->program.names[field->name].text,
             machine->program.names[field->name].value.address);
    activity_set(text, false);
}

bool call_read_field(const call_machine *machine, const call_field *field, call_storage *value) {
    const void *place = find(machine, field);
    if (place == NULL)
        return false;
    begin(machine, field, "reading");
    value->u64 = 0;
    /* The member need not be aligned. */
    memcpy(value, place, call_ffi_type(field->type)->size);
    activity_set(NULL, false);
    return true;
}

bool call_write_field(const call_machine *machine, const call_field *field, const call_value *source) {
    const call_name *name = &machine->program.names[field->name];
    call_storage value;
    void *place = find(machine, field);
    if (place == NULL)
        return false;
    const char *why = NULL;
    if (name->is_constant)
        why = "a mapped file can't be changed; use 'read' instead of 'map'";
    else if (!call_store_value(&machine->program, &value, field->type, source))
        why = "the value does not fit its type";
    if (why != NULL) {
        snprintf(call_failure, sizeof call_failure, "the member at offset %u of '%s' can't be set: %s",
                 (unsigned)field->offset, name->text, why);
        return false;
    }
    begin(machine, field, "setting");
    memcpy(place, &value, call_ffi_type(field->type)->size);
    activity_set(NULL, false);
    return true;
}
