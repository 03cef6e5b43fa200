/* Runs the decoders of foreign bytes (frames, call programs, payloads) under the address and undefined-
 * behaviour sanitizers.
 *
 *   decoders GOLDEN.hex...
 *
 * Every golden frame is decoded completely, in every prefix, byte by byte, and with changed bytes; so is a
 * call program with every kind of argument. Random numbers begin with a fixed seed, so that a failure can be
 * reproduced. Every input lies in memory of exactly its size, and the unused part of a reader's buffer is
 * poisoned. */
#include "bgtask_json.h"
#include "call_program.h"
#include "frames.h"
#include "payload.h"

#include <errno.h>
#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FRAME_ROUNDS = 60000, PROGRAM_ROUNDS = 60000, PAYLOAD_ROUNDS = 60000, BATCH = 500 };

static uint64_t seed = 0x62677461736b;

/* xorshift64, which gives the same numbers on every machine. */
static uint64_t random_number(uint64_t limit) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % limit;
}

static void fail(const char *what) {
    fprintf(stderr, "decoders: %s\n", what);
    exit(1);
}

static uint8_t *exactly(const void *bytes, size_t length) {
    uint8_t *copy = malloc(length);
    if (copy == NULL && length > 0)
        fail("no memory");
    if (length > 0)
        memcpy(copy, bytes, length);
    return copy;
}

/* MARK: Frames */

static struct frame_reader reader;
static struct frame_writer writer;

/* Reads every field of a body, as the runner does. */
static void read_body(const struct frame *frame) {
    uint8_t *bytes = exactly(frame->body.bytes, frame->body.length);
    struct body body = {bytes, frame->body.length};
    if (body_violation(body, frame->rule) != NULL)
        fail("a copy of a body is judged otherwise");
    uint8_t tag;
    struct value value;
    frame_begin(&writer, frame->kind);
    for (size_t at = 0; body_next(body, &at, &tag, &value);) {
        frame_add_bytes(&writer, tag, value.bytes, value.length);
        (void)value_number(value);
        (void)utf8_is_valid(value.bytes, value.length);
        char *text = body_text(body, tag);
        frame_add_text(&writer, tag, text != NULL ? text : "", random_number(64));
        free(text);
        /* A nested body is plain bytes until its rule is applied. */
        uint8_t *inner = exactly(value.bytes, value.length);
        struct body nested = {inner, value.length};
        if (body_violation(nested, &pending_request_rule) == NULL)
            (void)body_number(nested, 1, 0);
        free(inner);
    }
    uint16_t sequence = 0;
    (void)frame_end(&writer, &sequence);
    free(bytes);
}

/* Feeds a stream in pieces of at most `piece` bytes. True if it held only complete, valid frames. */
static bool read_stream(const uint8_t *bytes, size_t length, size_t piece, size_t *frames) {
    ASAN_UNPOISON_MEMORY_REGION(reader.buffer, sizeof reader.buffer);
    memset(&reader, 0, offsetof(struct frame_reader, buffer));
    *frames = 0;
    enum frame_status status = FRAME_NEEDS_MORE;
    for (size_t at = 0; at < length && status != FRAME_VIOLATION;) {
        ASAN_UNPOISON_MEMORY_REGION(reader.buffer, sizeof reader.buffer);
        uint8_t *place;
        size_t count = frame_reader_room(&reader, &place);
        if (count == 0)
            fail("a reader that needs more has no room");
        if (count > piece)
            count = piece;
        if (count > length - at)
            count = length - at;
        memcpy(place, bytes + at, count);
        frame_reader_added(&reader, count);
        at += count;
        ASAN_POISON_MEMORY_REGION(reader.buffer + reader.filled, sizeof reader.buffer - reader.filled);
        struct frame frame;
        while ((status = frame_reader_next(&reader, &frame)) == FRAME_READY) {
            ++*frames;
            read_body(&frame);
        }
    }
    return status == FRAME_NEEDS_MORE && !frame_reader_is_inside(&reader);
}

struct golden {
    uint8_t *bytes;
    size_t length;
};

/* Reads a golden file: bytes in hexadecimal, comments from # to the line's end. */
static struct golden golden_of(const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail(path);
    uint8_t *bytes = malloc(FRAME_BYTES_MAX);
    size_t length = 0;
    char line[4096];
    while (bytes != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "#\n")] = 0;
        for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " "))
            bytes[length++] = (uint8_t)strtoul(word, NULL, 16);
    }
    fclose(file);
    struct golden golden = {exactly(bytes, length), length};
    free(bytes);
    return golden;
}

static void check_golden(struct golden golden, const char *path) {
    size_t whole, count;
    if (golden.length == 0 || !read_stream(golden.bytes, golden.length, golden.length, &whole))
        fail(path);
    for (size_t piece = 1; piece < 8; piece++)
        if (!read_stream(golden.bytes, golden.length, piece, &count) || count != whole)
            fail("a stream in pieces is read otherwise than whole");
    for (size_t length = 1; length < golden.length; length++) {
        uint8_t *prefix = exactly(golden.bytes, length);
        (void)read_stream(prefix, length, length, &count);
        free(prefix);
    }
}

/* Changes a few bytes, most often at the start, where lengths, kinds and tags are. */
static void bend(uint8_t *bytes, size_t length) {
    for (uint64_t changes = 1 + random_number(4); changes > 0 && length > 0; changes--) {
        size_t at = random_number(random_number(2) ? length : length < 24 ? length : 24);
        bytes[at] =
            random_number(3) ? (uint8_t)random_number(256) : (uint8_t)(bytes[at] + 1 - 2 * random_number(2));
    }
}

static void fuzz_frames(const struct golden *golden, size_t golden_count) {
    size_t count;
    for (int round = 0; round < FRAME_ROUNDS; round++) {
        const struct golden *base = &golden[random_number(golden_count)];
        size_t length = random_number(4) ? base->length : random_number(base->length) + 1;
        uint8_t *bytes = exactly(base->bytes, length);
        if (random_number(8) == 0)
            for (size_t i = 0; i < length; i++)
                bytes[i] = (uint8_t)random_number(256);
        /* Half of the frames get a correct length again, so that the decoder reaches their body. */
        bend(bytes, length);
        if (length >= FRAME_HEADER && random_number(2)) {
            uint32_t rest = (uint32_t)(length - FRAME_PREFIX);
            for (int i = 0; i < 4; i++)
                bytes[i] = (uint8_t)(rest >> 8 * i);
            bytes[6] = bytes[7] = 0;
        }
        (void)read_stream(bytes, length, 1 + random_number(length), &count);
        free(bytes);
    }
}

/* MARK: Call programs */

static uint8_t program[4096];
static size_t program_length;

static void put(uint64_t number, size_t size) {
    for (size_t i = 0; i < size; i++)
        program[program_length++] = (uint8_t)(number >> 8 * i);
}

static void put_text(const char *text) {
    put(strlen(text), 2);
    memcpy(program + program_length, text, strlen(text));
    program_length += strlen(text);
}

static void put_integer(int64_t number) {
    put(0, 1);
    put((uint64_t)number, 8);
}

static void put_call(const char *function, int arguments) {
    put(0, 2);
    put_text(function);
    put(CALL_INT, 1);
    put(arguments > 1 ? 2 : 0, 1);
    put((uint64_t)arguments, 1);
}

static void put_member(call_type type) {
    put(1, 2), put(24, 4), put(type, 1);
}

/* A program with every kind of step, value, argument and expectation (RunnerProtocol.md, "Call programs"). */
static void make_program(void) {
    memcpy(program, "BGC1", 4);
    program_length = 4;
    put(2, 2), put(3, 2), put(1, 2), put(11, 2), put(7, 1);
    put_text("libc.so.6"), put_text("libz.so.1");
    put_text("a"), put_text("b"), put_text("c");
    put(CALL_INT, 1), put(2, 1), put(CALL_POINTER, 1), put(CALL_LONG, 1), put(0, 1), put(2, 1), put(0, 1);
    put_integer(0), put_integer(1);
    /* One call with all kinds of arguments, whose result must be one of a list of values. */
    put(1, 1), put(7, 1), put(0, 2), put(1, 1), put(2, 1), put_integer(0), put_integer(-1), put(1, 1),
        put(1, 2);
    put_call("first", 14);
    put(1, 1), put(CALL_DOUBLE, 1), put(1, 1), put(0x3FF0000000000000, 8);
    put(2, 1), put_text("a text");
    put(3, 1);
    put(4, 1), put(2, 2);
    put(5, 1), put(CALL_POINTER, 1), put(0, 2);
    put(6, 1), put(CALL_LONG, 1), put(1, 2), put(4, 1), put(0, 2);
    put(7, 1), put(2, 2), put_integer(4096);
    put(8, 1), put(0, 2), put_text("/a/file");
    put(9, 1), put(2, 2);
    put(10, 1), put(0, 2);
    put(11, 1), put_member(CALL_STRING);
    put(12, 1), put(2, 1), put_text("one"), put_text("two");
    put(1, 1), put(CALL_INT, 1), put(4, 1), put(1, 2);
    put(13, 1), put(2, 2), put(2, 1), put(CALL_INT, 1), put(CALL_DOUBLE, 1);
    /* Calls whose result must not be NULL, must be at least 0, or may be any value, and a step that saves a
     * file. The second call has a text as its argument. */
    put(1, 1), put(0, 1), put(2, 1), put(2, 1), put(0, 1), put_call("second", 1);
    put(6, 1), put(CALL_STRING, 1), put(1, 2), put(3, 1), put_text("from a text");
    put(1, 1), put(0, 1), put(3, 1), put_integer(0), put(0, 1), put_call("third", 0);
    put(1, 1), put(1, 1), put(0, 1), put(0, 1);
    put(0, 2), put_text("fourth"), put(CALL_RETURNS_STRUCT, 1), put(1, 1), put(CALL_INT, 1), put(0, 2);
    put(2, 1), put(0, 1), put(0, 1), put(0, 1), put(2, 2), put_integer(10), put_text("/a/saved/file");
    /* A file that is mapped, one that is read, and a loop over a member that is set and one that is read. */
    put(3, 1), put(0, 1), put(0, 1), put(0, 1), put(0, 2), put_text("/a/mapped/file");
    put(4, 1), put(0, 1), put(0, 1), put(0, 1), put(1, 2), put_text("/a/read/file");
    put(2, 1), put(0, 1), put(0, 1), put(0, 1), put(2, 2), put(2, 1), put_text("/a/saved/text");
    put(7, 1), put(0, 1), put(2, 1), put(2, 1), put(0, 1), put(0, 2), put(1000, 4), put(2, 1);
    put(6, 1), put(0, 1), put(0, 1), put(0, 1), put_member(CALL_INT), put_integer(7);
    put(5, 1), put(4, 1), put(0, 2), put(3, 1), put_integer(1), put(0, 1), put_member(CALL_LONG);
    put_call("message", 0), put(8, 4);
    put_call("on_expiration", 0);
}

static const char *decode(const uint8_t *bytes, size_t length) {
    uint8_t *copy = exactly(bytes, length);
    call_program decoded;
    const char *finding = call_decode(&decoded, copy, length);
    free(copy);
    return finding;
}

static void check_program(void) {
    make_program();
    const char *finding = decode(program, program_length);
    if (finding != NULL)
        fail(finding);
    for (size_t length = 0; length < program_length; length++)
        if (decode(program, length) == NULL)
            fail("a prefix of a call program is taken for a whole one");
}

static void fuzz_programs(void) {
    static uint8_t bent[sizeof program + 64];
    for (int round = 0; round < BATCH; round++) {
        size_t length = random_number(8) ? program_length : random_number(program_length + 64);
        memcpy(bent, program, program_length);
        for (size_t i = program_length; i < length; i++)
            bent[i] = (uint8_t)random_number(256);
        bend(bent + 4, length > 4 ? length - 4 : 0);
        (void)decode(bent, length);
    }
}

/* MARK: Payloads */

static void check_payload(const char *json, const char *expected) {
    uint8_t *copy = exactly(json, strlen(json));
    char *text = payload_string((const char *)copy, strlen(json), "directory");
    if ((text == NULL) != (expected == NULL) || (text != NULL && strcmp(text, expected) != 0))
        fail(json);
    free(text);
    free(copy);
}

/* Every value of one payload, and of each beginning of it, by all functions of bgtask_json.h. */
static void check_values(void) {
    static const char json[] =
        "{\"a\": {\"b\": [10, {\"c\": \"\\u00e4x\"}, [], -2.5e1, true, false]}, \"a.b\": 1,"
        " \"big\": 9223372036854775808, \"nul\": \"\\u0000\", \"a\": 2, \"n\": null}";
    char text[8];
    int64_t integer = 7;
    double number = 7;
    int truth = 7;
    for (size_t length = 0; length < sizeof json; length++) {
        uint8_t *copy = exactly(json, length);
        static const char *const paths[] = {"a.b", "a.b.0", "a.b.1.c", "a.b.3", "a.b.4",
                                            "big", "n",     "x.y",     ""};
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
            (void)bgtask_json_string(copy, length, paths[i], text, sizeof text);
            (void)bgtask_json_integer(copy, length, paths[i], &integer);
            (void)bgtask_json_number(copy, length, paths[i], &number);
            (void)bgtask_json_bool(copy, length, paths[i], &truth);
            (void)bgtask_json_count(copy, length, paths[i]);
        }
        free(copy);
    }
    const size_t length = sizeof json - 1;
    if (bgtask_json_string(json, length, "a.b.1.c", text, sizeof text) != 3 || strcmp(text, "\xC3\xA4x") != 0)
        fail("a string in an array");
    if (bgtask_json_string(json, length, "a.b.1.c", text, 3) != -2 || text[0] != 0)
        fail("a string that does not fit");
    if (bgtask_json_string(json, length, "nul", text, sizeof text) != -2)
        fail("a string with a NUL");
    if (bgtask_json_string(json, length, "a.b.0", text, sizeof text) != -1)
        fail("a number as a string");
    if (bgtask_json_integer(json, length, "a.b.0", &integer) != 1 || integer != 10)
        fail("an integer");
    if (bgtask_json_integer(json, length, "big", &integer) != -1 || integer != 10)
        fail("an integer out of range");
    if (bgtask_json_integer(json, length, "a.b.3", &integer) != -1)
        fail("a fraction as an integer");
    if (bgtask_json_number(json, length, "a.b.3", &number) != 1 || number != -25)
        fail("a number");
    if (bgtask_json_bool(json, length, "a.b.4", &truth) != 1 || truth != 1 ||
        bgtask_json_bool(json, length, "a.b.5", &truth) != 1 || truth != 0 ||
        bgtask_json_bool(json, length, "n", &truth) != -1)
        fail("a truth value");
    if (bgtask_json_count(json, length, "a.b") != 6 || bgtask_json_count(json, length, "a.b.2") != 0 ||
        bgtask_json_count(json, length, "a") != -1)
        fail("a count");
    if (bgtask_json_integer(json, length, "a.b.6", &integer) != -1 ||
        bgtask_json_integer(json, length, "missing", &integer) != -1)
        fail("a path to nothing");
    char deep[400];
    memset(deep, '[', sizeof deep);
    if (bgtask_json_count(deep, sizeof deep, "") != -1)
        fail("a text that is nested too deep");
}

static void fuzz_payloads(void) {
    static const char *const base[] = {
        "{\"directory\": \"/a\\u00e4\\ud83d\\ude00\\n\"}",
        "{\"other\": [1, {\"directory\": null}, \"\\\"\"], \"directory\": \"/b\"}",
        "{\"x\": -1.5e7, \"y\": true, \"directory\": \"\"}",
    };
    static const char alphabet[] = "{}[]\",:\\u0d8 \n-.etfn\xC3";
    for (int round = 0; round < BATCH; round++) {
        const char *json = base[random_number(3)];
        size_t length = random_number(4) ? strlen(json) : random_number(strlen(json) + 1);
        uint8_t *bytes = exactly(json, length);
        for (uint64_t changes = random_number(5); changes > 0 && length > 0; changes--)
            bytes[random_number(length)] = (uint8_t)alphabet[random_number(sizeof alphabet)];
        free(payload_string((const char *)bytes, length, "directory"));
        (void)bgtask_json_count(bytes, length, "other");
        free(bytes);
    }
}

/* MARK: Main program */

/* Runs a batch in a new process, because the memory of a decoded program is freed only by its end. */
static void batch(void (*fuzz)(void)) {
    (void)random_number(2); /* the next batch has other numbers */
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        fuzz();
        _exit(0);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child < 0 || status != 0)
        exit(1);
}

int main(int count, char **paths) {
    if (count < 31)
        fail("fewer than 30 golden files");
    struct golden *golden = calloc((size_t)count, sizeof *golden);
    if (golden == NULL)
        fail("no memory");
    for (int i = 1; i < count; i++) {
        golden[i - 1] = golden_of(paths[i]);
        check_golden(golden[i - 1], paths[i]);
    }
    fuzz_frames(golden, (size_t)count - 1);
    check_program();
    for (int round = 0; round < PROGRAM_ROUNDS; round += BATCH)
        batch(fuzz_programs);
    check_payload("{\"directory\": \"/a/b\"}", "/a/b");
    check_payload("{\"directory\": \"\\u00e4\"}", "\xC3\xA4");
    check_payload("{\"directory\": 5}", NULL);
    check_values();
    for (int round = 0; round < PAYLOAD_ROUNDS; round += BATCH)
        batch(fuzz_payloads);
    return 0;
}
