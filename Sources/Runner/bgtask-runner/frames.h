/* The frames of Documentation/RunnerProtocol.md: a bounded, incremental decoder and an encoder.
 *
 * Nothing here allocates, blocks or keeps state outside of the structs that the caller owns. */
#ifndef BGTASK_RUNNER_FRAMES_H
#define BGTASK_RUNNER_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The protocol version of this runner. */
#define PROTOCOL_VERSION 1u
/** The most that a frame's length field may say. */
#define FRAME_LENGTH_MAX 65536u
/** Bytes of a length field. */
#define FRAME_PREFIX 4u
/** Bytes of a frame before its body: length, kind, flags, sequence. */
#define FRAME_HEADER 8u
/** Bytes of a whole frame of the greatest length. */
#define FRAME_BYTES_MAX (FRAME_PREFIX + FRAME_LENGTH_MAX)

/** Kinds of messages; the names are those of the protocol page. */
enum message_kind {
    MESSAGE_READY = 0x01,
    MESSAGE_LAUNCH = 0x02,
    MESSAGE_PAYLOAD = 0x03,
    MESSAGE_CHECKPOINT_IN = 0x04,
    MESSAGE_PROGRAM = 0x05,
    MESSAGE_START = 0x06,
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
    MESSAGE_LOAD_FAILED = 0x2E,
    MESSAGE_DONE = 0x2F,
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
};

/** Types of a field's value. */
enum field_type { FIELD_U64 = 1, FIELD_I64, FIELD_FLAG, FIELD_TEXT, FIELD_BYTES };

/** What the protocol page says of one field of a message. */
struct field_rule {
    uint8_t tag;      /**< 0 ends a list of rules. */
    uint8_t type;     /**< A `field_type`. */
    bool required;    /**< Marked * on the page. */
    bool repeated;    /**< Marked + on the page. */
    uint32_t at_most; /**< Greatest length of a text or bytes; 0: what fits. */
};

/** The most fields of one message; at most 32, the bits of a set of them. */
#define MESSAGE_FIELDS_MAX 20u

/** What the protocol page says of one message. */
struct message_rule {
    uint8_t kind;
    struct field_rule fields[MESSAGE_FIELDS_MAX];
};

/** The fields of a message, or of a nested one. */
struct body {
    const uint8_t *bytes;
    size_t length;
};

/** A value inside a body; borrowed from it. */
struct value {
    const uint8_t *bytes;
    size_t length;
};

/** A frame that keeps every rule of the page; borrowed from its decoder. */
struct frame {
    uint8_t kind;
    const struct message_rule *rule;
    struct body body;
};

/** The rule of a kind; NULL for one that this version does not know. */
const struct message_rule *message_rule_of(uint8_t kind);
/** The rules of one nested body of *reply*: a pending request. */
extern const struct message_rule pending_request_rule;

/** Finds what a body does wrong by its rule; NULL if nothing. The text is constant. */
const char *body_violation(struct body body, const struct message_rule *rule);
/** Steps through a body's fields: `*at` from 0; false at its end. Only for a body without violation. */
bool body_next(struct body body, size_t *at, uint8_t *tag, struct value *value);
/** The first field of a tag; false if it is not there. */
bool body_find(struct body body, uint8_t tag, struct value *value);
/** A number (u64, i64 as its bits, flag), or `otherwise` if it is not there. */
uint64_t body_number(struct body body, uint8_t tag, uint64_t otherwise);
/** A text as a fresh, terminated string; NULL if it is not there or memory is short. The caller frees it. */
char *body_text(struct body body, uint8_t tag);
/** The number of a u64, i64 or flag value. */
uint64_t value_number(struct value value);

/** An incremental decoder of one channel and direction. Zero it before use. */
struct frame_reader {
    uint16_t sequence;     /**< Expected next. */
    size_t start, filled;  /**< What of the buffer is not decoded yet. */
    const char *violation; /**< Set once; the reader yields nothing more. */
    uint8_t buffer[FRAME_BYTES_MAX];
};

/** What a decoder has. */
enum frame_status { FRAME_NEEDS_MORE, FRAME_READY, FRAME_VIOLATION };

/** Room for more bytes: never 0 after FRAME_NEEDS_MORE. Ends the life of frames handed out before. */
size_t frame_reader_room(struct frame_reader *reader, uint8_t **at);
/** Says that `count` bytes were put where frame_reader_room pointed. */
void frame_reader_added(struct frame_reader *reader, size_t count);
/** Decodes the next known frame; unknown kinds from 0x80 are skipped. */
enum frame_status frame_reader_next(struct frame_reader *reader, struct frame *frame);
/** True if bytes of an unfinished frame are left: at the stream's end that is a violation. */
bool frame_reader_is_inside(const struct frame_reader *reader);

/** A frame being written. */
struct frame_writer {
    size_t length; /**< Bytes of the whole frame so far. */
    bool overflow; /**< A field did not fit; the frame must not be sent. */
    uint8_t bytes[FRAME_BYTES_MAX];
};

/** Starts a frame without fields. */
void frame_begin(struct frame_writer *writer, uint8_t kind);
void frame_add_number(struct frame_writer *writer, uint8_t tag, uint64_t number);
void frame_add_flag(struct frame_writer *writer, uint8_t tag, bool flag);
void frame_add_bytes(struct frame_writer *writer, uint8_t tag, const void *bytes, size_t length);
/** Adds a text: bytes that are not UTF-8 become '?', and it is cut before a character that passes `at_most`.
 */
void frame_add_text(struct frame_writer *writer, uint8_t tag, const char *text, size_t at_most);
/** Finishes the frame and counts the sequence on; false, and nothing counted, after an overflow. */
bool frame_end(struct frame_writer *writer, uint16_t *sequence);

/** Bytes of the UTF-8 character at `bytes` (1 ... 4), or 0 if it is not one, cut off, or NUL. */
size_t utf8_character(const uint8_t *bytes, size_t length);
/** True for text as the page wants it: UTF-8 without NUL. */
bool utf8_is_valid(const uint8_t *bytes, size_t length);

#endif
