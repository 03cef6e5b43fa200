/* The frames of Documentation/RunnerProtocol.md: an incremental decoder with limited memory, and an
 * encoder.
 *
 * Except for body_text, the functions do not allocate memory. None of them blocks, and all state is in
 * structs that the caller owns. */
#ifndef BGTASK_RUNNER_FRAMES_H
#define BGTASK_RUNNER_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The protocol version of this runner. */
#define PROTOCOL_VERSION 1u
/** The largest valid value of a frame's length field. */
#define FRAME_LENGTH_MAX 65536u
/** The number of bytes in the length field. */
#define FRAME_PREFIX 4u
/** The number of bytes before the body: length, kind, flags and sequence number. */
#define FRAME_HEADER 8u
/** The number of bytes in the longest frame, including the length field. */
#define FRAME_BYTES_MAX (FRAME_PREFIX + FRAME_LENGTH_MAX)

/** The kinds of messages, with the names in Documentation/RunnerProtocol.md. */
enum message_kind {
    MESSAGE_READY = 0x01,
    MESSAGE_LAUNCH = 0x02,
    MESSAGE_PAYLOAD = 0x03,
    MESSAGE_CHECKPOINT_IN = 0x04,
    MESSAGE_PROGRAM = 0x05,
    MESSAGE_START = 0x06,
    MESSAGE_COMMAND = 0x07,
    MESSAGE_EXPIRE = 0x10,
    MESSAGE_REPLY = 0x11,
    MESSAGE_SAMPLE = 0x12,
    MESSAGE_CONDITIONS = 0x13,
    MESSAGE_PROGRESS = 0x20,
    MESSAGE_LOG = 0x21,
    MESSAGE_CHECKPOINT_OUT = 0x22,
    MESSAGE_SUBMIT = 0x23,
    MESSAGE_CANCEL = 0x24,
    MESSAGE_PENDING = 0x25,
    MESSAGE_BEGIN_ASSERTION = 0x26,
    MESSAGE_END_ASSERTION = 0x27,
    MESSAGE_STACK = 0x28,
    MESSAGE_ADVICE = 0x29,
    MESSAGE_FAULT = 0x2A,
    MESSAGE_TITLE = 0x2B,
    MESSAGE_CRASH = 0x2C,
    MESSAGE_LOAD_FAILED = 0x2E,
    MESSAGE_DONE = 0x2F,
    MESSAGE_SESSION_CALL = 0x30,
    MESSAGE_TEMPLATE = 0x40,
    MESSAGE_SPAWN = 0x41,
    MESSAGE_KILL = 0x42,
    MESSAGE_RETIRE = 0x43,
    MESSAGE_KILL_TEMPLATE = 0x44,
    MESSAGE_PREPARE = 0x45,
    MESSAGE_HELLO = 0x50,
    MESSAGE_SPAWNED = 0x51,
    MESSAGE_EXITED = 0x52,
    MESSAGE_TEMPLATE_READY = 0x53,
    MESSAGE_TEMPLATE_FAILED = 0x54,
    MESSAGE_SPAWN_FAILED = 0x55,
    MESSAGE_UNKILLABLE = 0x56,
    MESSAGE_PREPARED = 0x57,
    MESSAGE_OBSERVED = 0x58,
    MESSAGE_TEMPLATE_STARTED = 0x59,
};

/** The types of a field's value. */
enum field_type { FIELD_U64 = 1, FIELD_I64, FIELD_FLAG, FIELD_TEXT, FIELD_BYTES };

/** The rule for one field of a message, from Documentation/RunnerProtocol.md. */
struct field_rule {
    uint8_t tag;      /**< The field's tag; 0 ends a list of rules. */
    uint8_t type;     /**< A `field_type`. */
    bool required;    /**< Marked with * in the documentation. */
    bool repeated;    /**< Marked with + in the documentation. */
    uint32_t at_most; /**< The largest length of a text or bytes; 0: no limit. */
};

/** The largest number of fields in one message; at most 32, because a set of fields is a 32-bit number. */
#define MESSAGE_FIELDS_MAX 24u

/** The rule for one message, from Documentation/RunnerProtocol.md. */
struct message_rule {
    uint8_t kind;
    struct field_rule fields[MESSAGE_FIELDS_MAX];
};

/** The encoded fields of a message, or of a nested message. */
struct body {
    const uint8_t *bytes;
    size_t length;
};

/** A value inside a body; valid only as long as the body's bytes. */
struct value {
    const uint8_t *bytes;
    size_t length;
};

/** A frame that obeys its message's rule; valid only until frame_reader_room is called. */
struct frame {
    uint8_t kind;
    const struct message_rule *rule;
    struct body body;
};

/** Returns the rule of a kind; NULL if this version does not know the kind. */
const struct message_rule *message_rule_of(uint8_t kind);
/** The rule for a pending request, which is a nested body of *reply*. */
extern const struct message_rule pending_request_rule;

/** Returns the first violation of the rule in a body, as a constant text; NULL if there is none. */
const char *body_violation(struct body body, const struct message_rule *rule);
/** Reads the next field of a body without violations. `*at` must be 0 at first. Returns false at the end. */
bool body_next(struct body body, size_t *at, uint8_t *tag, struct value *value);
/** Finds the first field with a tag; false if there is none. */
bool body_find(struct body body, uint8_t tag, struct value *value);
/** Returns a number (u64, i64 as its bits, or flag), or `otherwise` if the field is missing. */
uint64_t body_number(struct body body, uint8_t tag, uint64_t otherwise);
/** Returns a copy of a text, which the caller frees; NULL if the field is missing or there is no memory. */
char *body_text(struct body body, uint8_t tag);
/** Returns the number in a u64, i64 or flag value. */
uint64_t value_number(struct value value);

/** An incremental decoder for one direction of one channel. Fill it with zeros before use. */
struct frame_reader {
    uint16_t sequence;     /**< The next frame must have this number. */
    size_t start, filled;  /**< The part of the buffer to decode. */
    const char *violation; /**< Set once; then no frame is returned any more. */
    uint8_t buffer[FRAME_BYTES_MAX];
};

/** The result of decoding. */
enum frame_status { FRAME_NEEDS_MORE, FRAME_READY, FRAME_VIOLATION };

/** Returns the free space for more bytes, which is never 0 after FRAME_NEEDS_MORE. Frames that were
 *  returned before become invalid. */
size_t frame_reader_room(struct frame_reader *reader, uint8_t **at);
/** Reports that `count` bytes were stored at the address from frame_reader_room. */
void frame_reader_added(struct frame_reader *reader, size_t count);
/** Decodes the next frame; frames of unknown kinds from 0x80 on are skipped. */
enum frame_status frame_reader_next(struct frame_reader *reader, struct frame *frame);
/** Whether part of a frame is left, which is a violation at the end of the stream. */
bool frame_reader_is_inside(const struct frame_reader *reader);

/** A frame that is being encoded. */
struct frame_writer {
    size_t length; /**< Bytes in the frame so far. */
    bool overflow; /**< A field did not fit; the frame must not be sent. */
    uint8_t bytes[FRAME_BYTES_MAX];
};

/** Begins a frame without fields. */
void frame_begin(struct frame_writer *writer, uint8_t kind);
void frame_add_number(struct frame_writer *writer, uint8_t tag, uint64_t number);
void frame_add_flag(struct frame_writer *writer, uint8_t tag, bool flag);
void frame_add_bytes(struct frame_writer *writer, uint8_t tag, const void *bytes, size_t length);
/** Adds a text. Bytes that are not UTF-8 become '?'. The text is cut before the first character that would
 *  exceed `at_most` bytes. */
void frame_add_text(struct frame_writer *writer, uint8_t tag, const char *text, size_t at_most);
/** Finishes the frame and increments the sequence number. After an overflow, returns false and does
 *  neither. */
bool frame_end(struct frame_writer *writer, uint16_t *sequence);

/** Returns the length (1 to 4) of the UTF-8 character at `bytes`; 0 if it is invalid, incomplete or NUL. */
size_t utf8_character(const uint8_t *bytes, size_t length);
/** Whether a text is valid: UTF-8 without NUL. */
bool utf8_is_valid(const uint8_t *bytes, size_t length);

#endif
