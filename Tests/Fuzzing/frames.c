/* libFuzzer harness of the runner's decoders: frames from the host, and call programs.
 *
 * The first byte of an input selects the decoder; the others are its bytes, in memory of exactly their
 * size. */
#include "frames.h"
#include "call_program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A decoded call program keeps its memory until its process ends, on purpose. The decoder is compiled with
 * this function in place of calloc, so that the memory can be freed after each input. */
void *remembered_calloc(size_t count, size_t size);

enum { REMEMBERED_MAX = 65536 };
static void *remembered[REMEMBERED_MAX];
static size_t remembered_count;

void *remembered_calloc(size_t count, size_t size) {
    size_t bytes;
    if (remembered_count == REMEMBERED_MAX || __builtin_mul_overflow(count, size, &bytes))
        return NULL;
    void *memory = malloc(bytes);
    if (memory != NULL)
        remembered[remembered_count++] = memset(memory, 0, bytes);
    return memory;
}

static struct frame_reader reader;
static struct frame_writer writer;

static void read_body(const struct frame *frame) {
    uint8_t tag;
    struct value value;
    frame_begin(&writer, frame->kind);
    for (size_t at = 0; body_next(frame->body, &at, &tag, &value);) {
        frame_add_bytes(&writer, tag, value.bytes, value.length);
        char *text = body_text(frame->body, tag);
        frame_add_text(&writer, tag, text != NULL ? text : "", 64);
        free(text);
        struct body nested = {value.bytes, value.length};
        if (body_violation(nested, &pending_request_rule) == NULL)
            (void)body_number(nested, 1, 0);
    }
    uint16_t sequence = 0;
    (void)frame_end(&writer, &sequence);
}

static void read_frames(const uint8_t *bytes, size_t length, size_t piece) {
    memset(&reader, 0, offsetof(struct frame_reader, buffer));
    enum frame_status status = FRAME_NEEDS_MORE;
    for (size_t at = 0; at < length && status != FRAME_VIOLATION;) {
        uint8_t *place;
        size_t count = frame_reader_room(&reader, &place);
        if (count == 0)
            abort(); // a reader that needs more has no room
        if (count > piece)
            count = piece;
        if (count > length - at)
            count = length - at;
        memcpy(place, bytes + at, count);
        frame_reader_added(&reader, count);
        at += count;
        struct frame frame;
        while ((status = frame_reader_next(&reader, &frame)) == FRAME_READY)
            read_body(&frame);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    if (length < 2)
        return 0;
    uint8_t *copy = malloc(length - 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, bytes + 1, length - 1);
    if (bytes[0] < 0x80) {
        read_frames(copy, length - 1, 1 + bytes[0] % 64);
    } else {
        call_program decoded;
        (void)call_decode(&decoded, copy, length - 1);
        while (remembered_count > 0)
            free(remembered[--remembered_count]);
    }
    free(copy);
    return 0;
}
