#include "frames.h"

#include <stdlib.h>
#include <string.h>

#define FIELD_HEADER 3u

static uint64_t read_little(const uint8_t *bytes, size_t count) {
    uint64_t number = 0;
    for (size_t i = count; i > 0; i--)
        number = number << 8 | bytes[i - 1];
    return number;
}

static void write_little(uint8_t *bytes, size_t count, uint64_t number) {
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
}

/* MARK: Bodies */

bool body_next(struct body body, size_t *at, uint8_t *tag, struct value *value) {
    if (body.length - *at < FIELD_HEADER)
        return false;
    size_t length = read_little(body.bytes + *at + 1, 2);
    if (body.length - *at - FIELD_HEADER < length)
        return false;
    *tag = body.bytes[*at];
    *value = (struct value){body.bytes + *at + FIELD_HEADER, length};
    *at += FIELD_HEADER + length;
    return true;
}

static const char *value_violation(struct value value, const struct field_rule *rule) {
    switch (rule->type) {
    case FIELD_U64:
    case FIELD_I64:
        return value.length == 8 ? NULL : "a number is not 8 bytes long";
    case FIELD_FLAG:
        return value.length == 1 && value.bytes[0] <= 1 ? NULL
                                                        : "a flag is not one byte with the value 0 or 1";
    case FIELD_TEXT:
        if (!utf8_is_valid(value.bytes, value.length))
            return "a text is not UTF-8 or has a NUL";
        break;
    default:
        break;
    }
    return rule->at_most != 0 && value.length > rule->at_most ? "a text or byte field is too long" : NULL;
}

const char *body_violation(struct body body, const struct message_rule *rule) {
    uint32_t seen = 0; // bit i: fields[i] was present
    size_t at = 0;
    while (at < body.length) {
        uint8_t tag;
        struct value value;
        if (!body_next(body, &at, &tag, &value))
            return "a field extends beyond its message";
        for (size_t i = 0; i < MESSAGE_FIELDS_MAX && rule->fields[i].tag != 0; i++) {
            const struct field_rule *field = &rule->fields[i];
            if (field->tag != tag)
                continue;
            if ((seen & 1u << i) != 0 && !field->repeated)
                return "a field appears twice";
            seen |= 1u << i;
            const char *violation = value_violation(value, field);
            if (violation != NULL)
                return violation;
        }
    }
    for (size_t i = 0; i < MESSAGE_FIELDS_MAX && rule->fields[i].tag != 0; i++)
        if (rule->fields[i].required && (seen & 1u << i) == 0)
            return "a required field is missing";
    return NULL;
}

bool body_find(struct body body, uint8_t tag, struct value *value) {
    uint8_t found;
    for (size_t at = 0; body_next(body, &at, &found, value);)
        if (found == tag)
            return true;
    return false;
}

uint64_t value_number(struct value value) {
    return read_little(value.bytes, value.length < 8 ? value.length : 8);
}

uint64_t body_number(struct body body, uint8_t tag, uint64_t otherwise) {
    struct value value;
    return body_find(body, tag, &value) ? value_number(value) : otherwise;
}

char *body_text(struct body body, uint8_t tag) {
    struct value value;
    return body_find(body, tag, &value) ? strndup((const char *)value.bytes, value.length) : NULL;
}

/* MARK: Reading */

size_t frame_reader_room(struct frame_reader *reader, uint8_t **at) {
    if (reader->start > 0) {
        memmove(reader->buffer, reader->buffer + reader->start, reader->filled - reader->start);
        reader->filled -= reader->start;
        reader->start = 0;
    }
    *at = reader->buffer + reader->filled;
    return sizeof(reader->buffer) - reader->filled;
}

void frame_reader_added(struct frame_reader *reader, size_t count) {
    reader->filled += count;
}

bool frame_reader_is_inside(const struct frame_reader *reader) {
    return reader->filled > reader->start;
}

static enum frame_status refuse(struct frame_reader *reader, const char *violation) {
    reader->violation = violation;
    return FRAME_VIOLATION;
}

enum frame_status frame_reader_next(struct frame_reader *reader, struct frame *frame) {
    while (reader->violation == NULL) {
        const uint8_t *bytes = reader->buffer + reader->start;
        size_t available = reader->filled - reader->start;
        if (available < FRAME_PREFIX)
            return FRAME_NEEDS_MORE;
        size_t length = read_little(bytes, FRAME_PREFIX);
        if (length < FRAME_HEADER - FRAME_PREFIX || length > FRAME_LENGTH_MAX)
            return refuse(reader, "a frame's length is not 4 to 65536");
        if (available < FRAME_PREFIX + length)
            return FRAME_NEEDS_MORE;
        reader->start += FRAME_PREFIX + length;
        if (read_little(bytes + 6, 2) != reader->sequence)
            return refuse(reader, "a frame's sequence number is not the next one");
        reader->sequence++;
        frame->kind = bytes[4];
        frame->rule = message_rule_of(frame->kind);
        frame->body = (struct body){bytes + FRAME_HEADER, length - (FRAME_HEADER - FRAME_PREFIX)};
        if (frame->rule == NULL && frame->kind >= 0x80)
            continue;
        if (frame->rule == NULL)
            return refuse(reader, "a frame is of an unknown kind below 0x80");
        const char *violation = body_violation(frame->body, frame->rule);
        return violation == NULL ? FRAME_READY : refuse(reader, violation);
    }
    return FRAME_VIOLATION;
}

/* MARK: Writing */

void frame_begin(struct frame_writer *writer, uint8_t kind) {
    memset(writer->bytes, 0, FRAME_HEADER);
    writer->bytes[4] = kind;
    writer->length = FRAME_HEADER;
    writer->overflow = false;
}

/* Reserves space for a value and writes the field's header. Returns NULL, and records the overflow, if
 * there is no space. */
static uint8_t *add_field(struct frame_writer *writer, uint8_t tag, size_t length) {
    if (length > UINT16_MAX || sizeof(writer->bytes) - writer->length < FIELD_HEADER + length)
        writer->overflow = true;
    if (writer->overflow)
        return NULL;
    uint8_t *field = writer->bytes + writer->length;
    field[0] = tag;
    write_little(field + 1, 2, length);
    writer->length += FIELD_HEADER + length;
    return field + FIELD_HEADER;
}

void frame_add_number(struct frame_writer *writer, uint8_t tag, uint64_t number) {
    uint8_t *at = add_field(writer, tag, 8);
    if (at != NULL)
        write_little(at, 8, number);
}

void frame_add_flag(struct frame_writer *writer, uint8_t tag, bool flag) {
    frame_add_bytes(writer, tag, &(uint8_t){flag ? 1 : 0}, 1);
}

void frame_add_bytes(struct frame_writer *writer, uint8_t tag, const void *bytes, size_t length) {
    uint8_t *at = add_field(writer, tag, length);
    if (at != NULL && length > 0)
        memcpy(at, bytes, length);
}

void frame_add_text(struct frame_writer *writer, uint8_t tag, const char *text, size_t at_most) {
    const uint8_t *bytes = (const uint8_t *)text;
    size_t length = strnlen(text, at_most + 4),
           cut = 0; // 4 more bytes, so that a character that crosses the limit is seen completely
    while (cut < length) {
        size_t character = utf8_character(bytes + cut, length - cut);
        if (cut + (character == 0 ? 1 : character) > at_most)
            break;
        cut += character == 0 ? 1 : character;
    }
    uint8_t *at = add_field(writer, tag, cut);
    if (at == NULL)
        return;
    memcpy(at, bytes, cut);
    for (size_t i = 0; i < cut;) {
        size_t character = utf8_character(at + i, cut - i);
        if (character == 0)
            at[i] = '?';
        i += character == 0 ? 1 : character;
    }
}

bool frame_end(struct frame_writer *writer, uint16_t *sequence) {
    if (writer->overflow)
        return false;
    write_little(writer->bytes, FRAME_PREFIX, writer->length - FRAME_PREFIX);
    write_little(writer->bytes + 6, 2, *sequence);
    *sequence += 1;
    return true;
}

/* MARK: UTF-8 */

size_t utf8_character(const uint8_t *bytes, size_t length) {
    if (length == 0 || bytes[0] == 0)
        return 0;
    if (bytes[0] < 0x80)
        return 1;
    size_t count = bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : 2;
    if (bytes[0] < 0xC2 || bytes[0] > 0xF4 || length < count)
        return 0;
    for (size_t i = 1; i < count; i++)
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
    // Overlong forms, surrogates and values above U+10FFFF can be recognized by the second byte.
    if ((bytes[0] == 0xE0 && bytes[1] < 0xA0) || (bytes[0] == 0xED && bytes[1] > 0x9F) ||
        (bytes[0] == 0xF0 && bytes[1] < 0x90) || (bytes[0] == 0xF4 && bytes[1] > 0x8F))
        return 0;
    return count;
}

bool utf8_is_valid(const uint8_t *bytes, size_t length) {
    for (size_t at = 0; at < length;) {
        size_t character = utf8_character(bytes + at, length - at);
        if (character == 0)
            return false;
        at += character;
    }
    return true;
}
