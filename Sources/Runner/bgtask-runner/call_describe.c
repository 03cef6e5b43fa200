/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a call before it is made, for the report of a crash in it. It reads no memory of libraries. */
#include "call_machine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_TEXT = 60 };

/* A text that is cut at its end. */
struct line {
    char *text;
    size_t size, length;
};

static void add(struct line *line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line->text + line->length, line->size - line->length, format, arguments);
    va_end(arguments);
    if (length > 0)
        line->length += (size_t)length;
    if (line->length >= line->size)
        line->length = line->size - 1;
}

static void add_text(struct line *line, const char *text) {
    bool is_long = strlen(text) > SHOWN_TEXT;
    add(line, "\"%.*s%s\"", SHOWN_TEXT, text, is_long ? "..." : "");
}

static void add_value(struct line *line, const call_storage *value, call_type type) {
    if (type == CALL_FLOAT || type == CALL_DOUBLE)
        add(line, "%g", call_load_floating(value, type));
    else if (type == CALL_POINTER || type == CALL_STRING) {
        if (value->address == NULL)
            add(line, "NULL");
        else
            add(line, "0x%" PRIx64, value->u64);
    } else if (call_is_unsigned(type))
        add(line, "%" PRIu64, (uint64_t)call_load_integer(value, type));
    else
        add(line, "%" PRId64, call_load_integer(value, type));
}

static void add_argument(struct line *line, const call_program *program, const call_argument *argument,
                         const call_storage *value, call_type type) {
    const char *name = program->names != NULL && argument->name < program->name_count
                           ? program->names[argument->name].text
                           : "";
    switch (argument->kind) {
    case CALL_ARGUMENT_STRING:
        add_text(line, argument->text);
        return;
    case CALL_ARGUMENT_LITERAL:
        if (argument->value.kind == CALL_TEXT) {
            add_text(line, argument->value.text);
            return;
        }
        break;
    case CALL_ARGUMENT_LIST:
        add(line, "[");
        for (size_t i = 0; i < argument->text_count; i++) {
            add(line, i > 0 ? ", " : "");
            add_text(line, argument->texts[i]);
        }
        add(line, "]");
        return;
    case CALL_ARGUMENT_CALLBACK:
        add(line, "callback %u", argument->name + 1u);
        return;
    case CALL_ARGUMENT_OUT:
    case CALL_ARGUMENT_INOUT:
        add(line, "&%s", name);
        return;
    case CALL_ARGUMENT_FIELD:
        add(line, "%s[%" PRIu32 "] = ", program->names[argument->field.name].text, argument->field.offset);
        break;
    case CALL_ARGUMENT_SIZE_OF:
        add(line, "sizeOf %s = ", name);
        break;
    case CALL_ARGUMENT_USE:
    case CALL_ARGUMENT_BUFFER:
    case CALL_ARGUMENT_FILE:
        add(line, "%s = ", name);
        break;
    case CALL_ARGUMENT_STRUCT:
        add(line, "struct %s", name);
        return;
    case CALL_ARGUMENT_NULL:
        break;
    }
    add_value(line, value, type);
}

void call_describe_place(const call_machine *machine, char *text, size_t size) {
    if (machine->inner == 0)
        snprintf(text, size, "step %u", machine->step);
    else
        snprintf(text, size, "step %u.%u, round %" PRIu32, machine->step, machine->inner, machine->round);
}

void call_describe_call(const call_machine *machine, const call_invocation *call, const call_storage *values,
                        const call_type *types, char *text, size_t size) {
    struct line line = {text, size, 0};
    if (call == &machine->program.message)
        add(&line, "message");
    else if (call == &machine->program.on_expiration)
        add(&line, "onExpiration");
    else {
        call_describe_place(machine, text, size);
        line.length = strlen(text);
    }
    add(&line, ": %s(", call->function);
    for (size_t i = 0; i < call->count; i++) {
        add(&line, "%s", i > 0 ? ", " : "");
        add_argument(&line, &machine->program, &call->arguments[i], &values[i], types[i]);
    }
    add(&line, ")");
}
