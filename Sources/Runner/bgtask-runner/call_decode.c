/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes a call program. Everything is checked before it is used, because the bytes may not be valid. */
#include "call_program.h"

#include <stdlib.h>
#include <string.h>

typedef struct cursor {
    const uint8_t *bytes;
    size_t left;
    const char *finding; /* the first violation; after it, everything reads as 0 */
    const call_program *program;
} cursor;

static void refuse(cursor *in, const char *finding) {
    if (!in->finding)
        in->finding = finding;
    in->left = 0;
}

static uint64_t number(cursor *in, size_t size) {
    if (in->left < size) {
        refuse(in, "it ends too early");
        return 0;
    }
    uint64_t value = 0;
    for (size_t i = size; i > 0; i--)
        value = value << 8 | in->bytes[i - 1];
    in->bytes += size;
    in->left -= size;
    return value;
}

static uint8_t byte(cursor *in) {
    return (uint8_t)number(in, 1);
}

/* Reads a number; a value that is not below the limit is refused and reads as 0. */
static uint64_t bounded_number(cursor *in, size_t size, uint64_t limit, const char *finding) {
    uint64_t value = number(in, size);
    if (value < limit)
        return value;
    refuse(in, finding);
    return 0;
}

/* Reads a count or an index. */
static uint16_t bounded(cursor *in, size_t size, uint16_t limit, const char *finding) {
    return (uint16_t)bounded_number(in, size, limit, finding);
}

static void *array(cursor *in, size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        refuse(in, "there is not enough memory for it");
    return memory;
}

static char *text(cursor *in) {
    size_t length = number(in, 2);
    if (in->left < length)
        refuse(in, "a text extends beyond its end");
    static char none[1];
    if (!in->finding && memchr(in->bytes, 0, length))
        refuse(in, "a text has a NUL byte");
    char *copy = in->finding ? NULL : array(in, length + 1, 1);
    if (!copy)
        return none;
    memcpy(copy, in->bytes, length);
    in->bytes += length;
    in->left -= length;
    return copy;
}

static call_type type(cursor *in, bool may_be_void) {
    call_type type = (call_type)bounded(in, 1, CALL_TYPE_COUNT, "it has an unknown type");
    if (type == CALL_VOID && !may_be_void)
        refuse(in, "it has a value of type void");
    return type;
}

static uint16_t name(cursor *in) {
    return bounded(in, 2, in->program->name_count, "it has an unknown name");
}

static call_value value(cursor *in) {
    call_value value = {.kind = CALL_INTEGER};
    switch (byte(in)) {
    case 0:
        value.integer = (int64_t)number(in, 8);
        break;
    case 1: {
        value.kind = CALL_FLOATING;
        uint64_t bits = number(in, 8);
        memcpy(&value.floating, &bits, sizeof bits);
        break;
    }
    case 2:
        value.kind = CALL_NULL;
        break;
    case 3:
        value.kind = CALL_TEXT;
        value.text = text(in);
        break;
    case 4:
        value.kind = CALL_NAME;
        value.name = name(in);
        break;
    default:
        refuse(in, "it has an unknown kind of value");
    }
    return value;
}

static call_field field(cursor *in) {
    call_field field = {.name = name(in)};
    field.offset = (uint32_t)bounded_number(in, 4, CALL_MAX_OFFSET + 1, "a member has too large an offset");
    field.type = type(in, false);
    return field;
}

static call_struct structure(cursor *in) {
    call_struct structure = {.count = byte(in)};
    if (structure.count == 0)
        refuse(in, "a struct has no members");
    structure.members = array(in, structure.count, sizeof *structure.members);
    for (size_t i = 0; i < structure.count && !in->finding; i++)
        structure.members[i] = type(in, false);
    return structure;
}

static void argument(cursor *in, call_argument *argument) {
    argument->kind = (call_argument_kind)byte(in);
    switch (argument->kind) {
    case CALL_ARGUMENT_LITERAL:
        argument->type = type(in, false);
        argument->value = value(in);
        break;
    case CALL_ARGUMENT_STRING:
        argument->text = text(in);
        break;
    case CALL_ARGUMENT_NULL:
        break;
    case CALL_ARGUMENT_USE:
    case CALL_ARGUMENT_SIZE_OF:
        argument->name = name(in);
        break;
    case CALL_ARGUMENT_OUT:
        argument->type = type(in, false);
        argument->name = name(in);
        break;
    case CALL_ARGUMENT_INOUT:
        argument->type = type(in, false);
        argument->name = name(in);
        argument->value = value(in);
        break;
    case CALL_ARGUMENT_BUFFER:
        argument->name = name(in);
        argument->value = value(in);
        break;
    case CALL_ARGUMENT_FILE:
        argument->name = name(in);
        argument->text = text(in);
        break;
    case CALL_ARGUMENT_CALLBACK:
        argument->name = bounded(in, 2, in->program->callback_count, "it has an unknown callback");
        break;
    case CALL_ARGUMENT_FIELD:
        argument->field = field(in);
        break;
    case CALL_ARGUMENT_LIST:
        argument->text_count = byte(in);
        argument->texts = array(in, argument->text_count + 1u, sizeof *argument->texts);
        for (size_t i = 0; i < argument->text_count && !in->finding; i++)
            argument->texts[i] = text(in);
        break;
    case CALL_ARGUMENT_STRUCT:
        argument->name = name(in);
        argument->structure = structure(in);
        break;
    default:
        refuse(in, "it has an unknown kind of argument");
    }
}

static void invocation(cursor *in, call_invocation *call) {
    call->library = bounded(in, 2, in->program->library_count, "it has an unknown library");
    call->function = text(in);
    if (in->left > 0 && *in->bytes == CALL_RETURNS_STRUCT) {
        (void)byte(in);
        call->returned_struct = structure(in);
    } else {
        call->returns = type(in, true);
    }
    call->variadic_from = byte(in);
    call->count = (uint8_t)bounded(in, 1, CALL_MAX_ARGUMENTS + 1, "a call has more than 32 arguments");
    if (call->variadic_from == 1 || call->variadic_from > call->count + 1)
        refuse(in, "a call is variadic from position 1, or from a position that it does not have");
    call->arguments = array(in, call->count, sizeof *call->arguments);
    for (size_t i = 0; i < call->count && !in->finding; i++)
        argument(in, &call->arguments[i]);
}

/* Reads the part of a step that depends on its kind. */
static void action(cursor *in, call_step *step) {
    switch (step->kind) {
    case CALL_STEP_INVOKE:
        invocation(in, &step->invocation);
        break;
    case CALL_STEP_SAVE:
        step->name = name(in);
        step->operand = value(in);
        step->path = text(in);
        break;
    case CALL_STEP_MAP:
    case CALL_STEP_READ:
        step->name = name(in);
        step->path = text(in);
        break;
    case CALL_STEP_GET:
        step->field = field(in);
        break;
    case CALL_STEP_SET:
        step->field = field(in);
        step->operand = value(in);
        break;
    case CALL_STEP_LOOP:
        step->name = name(in);
        step->at_most = (uint32_t)number(in, 4);
        step->body_count = byte(in);
        break;
    }
}

static void step(cursor *in, call_step *step) {
    step->kind = (call_step_kind)byte(in);
    if (step->kind < CALL_STEP_INVOKE || step->kind > CALL_STEP_LOOP)
        refuse(in, "it has an unknown kind of step");
    uint8_t flags = byte(in);
    step->always = flags & 1;
    step->reads_errno = flags & 2;
    step->has_result = flags & 4;
    if (step->has_result)
        step->result = name(in);
    step->expect = bounded(in, 1, CALL_EXPECT_AT_LEAST + 1, "it has an unknown kind of expectation");
    step->expected_count = step->expect == CALL_EXPECT_ONE_OF ? byte(in) : step->expect != CALL_EXPECT_ANY;
    step->expected = array(in, step->expected_count, sizeof *step->expected);
    for (size_t i = 0; i < step->expected_count && !in->finding; i++)
        step->expected[i] = value(in);
    step->ends_count = byte(in);
    step->ends = array(in, step->ends_count, sizeof *step->ends);
    for (size_t i = 0; i < step->ends_count && !in->finding; i++)
        step->ends[i] = name(in);
    action(in, step);
    bool has_value = step->kind == CALL_STEP_GET ||
                     (step->kind == CALL_STEP_INVOKE && step->invocation.returns != CALL_VOID);
    bool has_struct = step->kind == CALL_STEP_INVOKE && step->invocation.returned_struct.count > 0;
    bool has_condition = has_value || step->kind == CALL_STEP_LOOP;
    if ((step->has_result && !has_value && !has_struct) ||
        (step->expect != CALL_EXPECT_ANY && !has_condition))
        refuse(in, "a step uses a result that it does not have");
}

/* Checks that each loop has a condition, and only steps that exist and are no loops. */
static void check_loops(cursor *in, const call_program *program) {
    for (size_t i = 0; i < program->step_count && !in->finding; i++) {
        const call_step *loop = &program->steps[i];
        if (loop->kind != CALL_STEP_LOOP)
            continue;
        if (loop->expect == CALL_EXPECT_ANY || loop->at_most == 0 || loop->body_count == 0 ||
            loop->body_count >= program->step_count - i)
            refuse(in, "a loop has no condition, no rounds, or not as many steps as it says");
        for (size_t j = 1; j <= loop->body_count && !in->finding; j++) {
            if (loop[j].kind == CALL_STEP_LOOP || loop[j].always)
                refuse(in, "a step of a loop is a loop, or runs always");
        }
    }
}

static void callback(cursor *in, call_callback *callback) {
    callback->returns = type(in, true);
    callback->count =
        (uint8_t)bounded(in, 1, CALL_MAX_ARGUMENTS + 1, "a callback has more than 32 parameters");
    callback->parameters = array(in, callback->count, sizeof *callback->parameters);
    for (size_t i = 0; i < callback->count && !in->finding; i++)
        callback->parameters[i] = type(in, false);
    callback->counts = byte(in) == 1;
    callback->completed = byte(in);
    callback->total = byte(in);
    if (callback->completed > callback->count || callback->total > callback->count)
        refuse(in, "a callback reads a parameter that it does not have");
    callback->proceed = value(in);
    callback->stop = value(in);
    if (callback->proceed.kind == CALL_TEXT || callback->proceed.kind == CALL_NAME ||
        callback->stop.kind == CALL_TEXT || callback->stop.kind == CALL_NAME)
        refuse(in, "a callback returns neither a number nor NULL");
}

const char *call_decode(call_program *program, const uint8_t *bytes, size_t length) {
    cursor in = {.bytes = bytes, .left = length, .program = program};
    memset(program, 0, sizeof *program);
    if (length < 4 || memcmp(bytes, "BGC1", 4) != 0)
        return "it does not begin with BGC1";
    (void)number(&in, 4);
    program->library_count = bounded(&in, 2, CALL_MAX_TABLE + 1, "it has too many libraries");
    program->name_count = bounded(&in, 2, CALL_MAX_TABLE + 1, "it has too many names");
    program->callback_count = bounded(&in, 2, CALL_MAX_TABLE + 1, "it has too many callbacks");
    program->step_count = bounded(&in, 2, CALL_MAX_STEPS + 1, "it has more than 64 steps");
    uint8_t flags = byte(&in);
    program->has_message = flags & 1;
    program->has_on_expiration = flags & 2;
    program->has_message_offset = program->has_message && flags & 4;
    program->libraries = array(&in, program->library_count, sizeof *program->libraries);
    program->names = array(&in, program->name_count, sizeof *program->names);
    program->callbacks = array(&in, program->callback_count, sizeof *program->callbacks);
    program->steps = array(&in, program->step_count, sizeof *program->steps);
    for (size_t i = 0; i < program->library_count && !in.finding; i++)
        program->libraries[i] = text(&in);
    for (size_t i = 0; i < program->name_count && !in.finding; i++)
        program->names[i].text = text(&in);
    for (size_t i = 0; i < program->callback_count && !in.finding; i++)
        callback(&in, &program->callbacks[i]);
    for (size_t i = 0; i < program->step_count && !in.finding; i++)
        step(&in, &program->steps[i]);
    check_loops(&in, program);
    if (program->has_message)
        invocation(&in, &program->message);
    if (program->has_message_offset)
        program->message_offset =
            (uint32_t)bounded_number(&in, 4, CALL_MAX_OFFSET + 1, "a member has too large an offset");
    if (program->has_on_expiration)
        invocation(&in, &program->on_expiration);
    if (!in.finding && in.left > 0)
        return "bytes follow its end";
    return in.finding;
}
