/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads single values of a payload: a small JSON reader in one header, for handlers in C and C++.
 *
 *   char folder[4096];
 *   int64_t width = 800;
 *   if (bgtask_json_string(launch->payload, launch->payload_length, "folder", folder, sizeof folder) < 0)
 *       return host->complete(task, 0, "the payload has no 'folder'");
 *   bgtask_json_integer(launch->payload, launch->payload_length, "size.width", &width);
 *
 * A path consists of the names of members and the positions of elements, counted from 0, with a dot between
 * them: "files.0.name". A name in a path can't contain a dot. Of members with the same name, the first
 * counts.
 *
 * The functions allocate nothing, never read past the length, and can be called on any thread. They return -1
 * if the path leads to no value, if the value has another type, or if the text is not JSON as far as they
 * have to read it. The host accepts only JSON objects as payloads.
 */
#ifndef BGTASK_JSON_H
#define BGTASK_JSON_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** The deepest nesting that the functions follow. */
#define BGTASK_JSON_DEPTH 64

/* A part of the text, from the next byte to the end. Not part of the interface. */
struct bgtask_json_text {
    const char *next, *end;
};

static inline void bgtask_json_blank(struct bgtask_json_text *in) {
    while (in->next < in->end &&
           (*in->next == ' ' || *in->next == '\t' || *in->next == '\n' || *in->next == '\r'))
        in->next++;
}

/* Passes one character, after blanks; 0 if another one comes. */
static inline int bgtask_json_pass(struct bgtask_json_text *in, char wanted) {
    bgtask_json_blank(in);
    if (in->next == in->end || *in->next != wanted)
        return 0;
    in->next++;
    return 1;
}

/* The value of four hexadecimal digits; -1 if they are not there. */
static inline long bgtask_json_hex(struct bgtask_json_text *in) {
    long value = 0;
    if (in->end - in->next < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = *in->next++;
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* The character of an escape sequence, after its backslash; -1 if it is not valid. */
static inline long bgtask_json_escape(struct bgtask_json_text *in) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (in->next == in->end)
        return -1;
    char c = *in->next++;
    if (c != 'u') {
        const char *found = c == 0 ? NULL : strchr(names, c);
        return found == NULL ? -1 : (long)(unsigned char)values[found - names];
    }
    long unit = bgtask_json_hex(in);
    if (unit < 0xD800 || unit > 0xDFFF)
        return unit;
    /* The first half of a pair, for a character above U+FFFF. */
    if (unit > 0xDBFF || in->end - in->next < 2 || in->next[0] != '\\' || in->next[1] != 'u')
        return -1;
    in->next += 2;
    long low = bgtask_json_hex(in);
    return low < 0xDC00 || low > 0xDFFF ? -1 : 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
}

/* Writes a character as UTF-8 at a position, as far as it fits before the size; returns its length. */
static inline size_t bgtask_json_put(long code, char *buffer, size_t at, size_t size) {
    char bytes[4];
    size_t count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = count; i-- > 1; code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3F));
    bytes[0] = (char)(first[count] | code);
    if (at < size && count <= size - at)
        memcpy(buffer + at, bytes, count);
    return count;
}

/* Reads a string into a buffer, which may be NULL with the size 0; returns its whole length, or -1. */
static inline long bgtask_json_read_string(struct bgtask_json_text *in, char *buffer, size_t size) {
    size_t length = 0;
    if (!bgtask_json_pass(in, '"'))
        return -1;
    while (in->next < in->end) {
        unsigned char c = (unsigned char)*in->next++;
        if (c == '"')
            return (long)length;
        if (c < 0x20)
            return -1;
        if (c == '\\') {
            long code = bgtask_json_escape(in);
            if (code < 0)
                return -1;
            length += bgtask_json_put(code, buffer, length, size);
        } else {
            if (length < size)
                buffer[length] = (char)c;
            length++;
        }
    }
    return -1;
}

/* Passes a value of any type; 0 if there is none, or if it is nested too deep. */
static inline int bgtask_json_skip(struct bgtask_json_text *in, int depth) {
    bgtask_json_blank(in);
    if (in->next == in->end || depth > BGTASK_JSON_DEPTH)
        return 0;
    char open = *in->next;
    if (open == '"')
        return bgtask_json_read_string(in, NULL, 0) >= 0;
    if (open == '{' || open == '[') {
        char close = open == '{' ? '}' : ']';
        in->next++;
        if (bgtask_json_pass(in, close))
            return 1;
        do {
            if (open == '{' && (bgtask_json_read_string(in, NULL, 0) < 0 || !bgtask_json_pass(in, ':')))
                return 0;
            if (!bgtask_json_skip(in, depth + 1))
                return 0;
        } while (bgtask_json_pass(in, ','));
        return bgtask_json_pass(in, close);
    }
    const char *start = in->next;
    while (in->next < in->end && strchr("+-.0123456789aeflnrstuE", *in->next) != NULL && *in->next != 0)
        in->next++;
    return in->next > start;
}

/* Moves to the member or element that the first part of a path names; 0 if there is none. */
static inline int bgtask_json_enter(struct bgtask_json_text *in, const char *part, size_t length) {
    char name[256];
    if (bgtask_json_pass(in, '{')) {
        if (bgtask_json_pass(in, '}'))
            return 0;
        do {
            long found = bgtask_json_read_string(in, name, sizeof name);
            if (found < 0 || !bgtask_json_pass(in, ':'))
                return 0;
            if ((size_t)found == length && length <= sizeof name && memcmp(name, part, length) == 0)
                return 1;
            if (!bgtask_json_skip(in, 1))
                return 0;
        } while (bgtask_json_pass(in, ','));
        return 0;
    }
    if (!bgtask_json_pass(in, '[') || length == 0 || length > 9)
        return 0;
    long position = 0;
    for (size_t i = 0; i < length; i++) {
        if (part[i] < '0' || part[i] > '9')
            return 0;
        position = position * 10 + (part[i] - '0');
    }
    if (bgtask_json_pass(in, ']'))
        return 0;
    while (position-- > 0)
        if (!bgtask_json_skip(in, 1) || !bgtask_json_pass(in, ','))
            return 0;
    return 1;
}

/* The text from the value of a path on; 0 if the path leads to none. */
static inline int bgtask_json_find(const void *json, size_t length, const char *path,
                                   struct bgtask_json_text *in) {
    if (json == NULL || path == NULL)
        return 0;
    in->next = (const char *)json;
    in->end = in->next + length;
    while (*path != 0) {
        size_t part = strcspn(path, ".");
        if (!bgtask_json_enter(in, path, part))
            return 0;
        path += part;
        if (*path == '.')
            path++;
    }
    bgtask_json_blank(in);
    return in->next < in->end;
}

/** Copies a string into a buffer, as UTF-8, and ends it with a NUL.
 *
 *  Returns its length in bytes, without the NUL; -1 if there is no such string; -2 if the buffer is too
 * small,
 *  or if the string contains a NUL, which C could not see. The buffer is then an empty string. */
static inline long bgtask_json_string(const void *json, size_t length, const char *path, char *buffer,
                                      size_t size) {
    struct bgtask_json_text in;
    if (size > 0)
        buffer[0] = 0;
    long found = bgtask_json_find(json, length, path, &in) ? bgtask_json_read_string(&in, buffer, size) : -1;
    if (found >= 0 && ((size_t)found >= size || memchr(buffer, 0, (size_t)found) != NULL))
        found = -2;
    if (size > 0)
        buffer[found < 0 ? 0 : found] = 0;
    return found;
}

/* Copies the characters of a number, with a NUL behind them; 0 if there is none, or if it does not fit. */
static inline size_t bgtask_json_digits(const void *json, size_t length, const char *path, char *text,
                                        size_t size) {
    struct bgtask_json_text in;
    size_t count = 0;
    if (!bgtask_json_find(json, length, path, &in))
        return 0;
    while (in.next + count < in.end && count < size && in.next[count] != 0 &&
           strchr("+-.0123456789eE", in.next[count]) != NULL)
        count++;
    if (count == 0 || count == size || in.next[0] == '+' || in.next[0] == '.')
        return 0;
    memcpy(text, in.next, count);
    text[count] = 0;
    return count;
}

/** Reads a number. Returns 1, or -1 if there is no such number; `value` is then unchanged. After a call of
 *  setlocale() for a locale with another decimal point than ".", fractions are not read: -1. */
static inline int bgtask_json_number(const void *json, size_t length, const char *path, double *value) {
    char text[64], *end = NULL;
    size_t count = bgtask_json_digits(json, length, path, text, sizeof text);
    double read = count > 0 ? strtod(text, &end) : 0;
    if (count == 0 || end != text + count)
        return -1;
    *value = read;
    return 1;
}

/** Reads a whole number. Returns 1, or -1 if there is none in this range; `value` is then unchanged. */
static inline int bgtask_json_integer(const void *json, size_t length, const char *path, int64_t *value) {
    char text[24], *end = NULL;
    size_t count = bgtask_json_digits(json, length, path, text, sizeof text);
    errno = 0;
    long long read = count > 0 ? strtoll(text, &end, 10) : 0;
    if (count == 0 || end != text + count || errno != 0)
        return -1;
    *value = read;
    return 1;
}

/** Reads `true` as 1 and `false` as 0. Returns 1, or -1 if there is neither; `value` is then unchanged. */
static inline int bgtask_json_bool(const void *json, size_t length, const char *path, int *value) {
    struct bgtask_json_text in;
    if (!bgtask_json_find(json, length, path, &in))
        return -1;
    size_t left = (size_t)(in.end - in.next);
    if (left >= 4 && memcmp(in.next, "true", 4) == 0)
        *value = 1;
    else if (left >= 5 && memcmp(in.next, "false", 5) == 0)
        *value = 0;
    else
        return -1;
    return 1;
}

/** The number of elements of an array; -1 if there is no such array. */
static inline long bgtask_json_count(const void *json, size_t length, const char *path) {
    struct bgtask_json_text in;
    if (!bgtask_json_find(json, length, path, &in) || !bgtask_json_pass(&in, '['))
        return -1;
    if (bgtask_json_pass(&in, ']'))
        return 0;
    long count = 0;
    do {
        if (!bgtask_json_skip(&in, 1))
            return -1;
        count++;
    } while (bgtask_json_pass(&in, ','));
    return bgtask_json_pass(&in, ']') ? count : -1;
}

#endif /* BGTASK_JSON_H */
