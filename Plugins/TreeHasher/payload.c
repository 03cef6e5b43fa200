/* SPDX-License-Identifier: Apache-2.0 */
#include "payload.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *next, *end;
};

static void skip_space(struct reader *in) {
    while (in->next < in->end && strchr(" \t\r\n", *in->next) && *in->next)
        in->next++;
}

static int take(struct reader *in, char wanted) {
    skip_space(in);
    if (in->next >= in->end || *in->next != wanted)
        return 0;
    in->next++;
    return 1;
}

static int hex4(struct reader *in, uint32_t *value) {
    *value = 0;
    for (int i = 0; i < 4; i++, in->next++) {
        if (in->next >= in->end)
            return 0;
        const char *digits = "0123456789abcdef";
        char c = *in->next;
        const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
        if (found == NULL)
            return 0;
        *value = *value << 4 | (uint32_t)(found - digits);
    }
    return 1;
}

static char *put_utf8(char *out, uint32_t scalar) {
    if (scalar < 0x80) {
        *out++ = (char)scalar;
        return out;
    }
    static const unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
    int tail = scalar < 0x800 ? 1 : scalar < 0x10000 ? 2 : 3;
    *out++ = (char)(lead[tail] | scalar >> 6 * tail);
    while (tail-- > 0)
        *out++ = (char)(0x80 | (scalar >> 6 * tail & 0x3F));
    return out;
}

/* Reads a string that starts at its opening quote. Returns NULL if it is malformed or contains a NUL,
 * which is not allowed in a path. */
static char *string(struct reader *in) {
    if (!take(in, '"'))
        return NULL;
    char *result = malloc((size_t)(in->end - in->next) + 1), *out = result;
    while (result != NULL && in->next < in->end) {
        char c = *in->next++;
        if (c == '"') {
            *out = 0;
            return result;
        }
        if (c != '\\') {
            if ((unsigned char)c < 0x20)
                break;
            *out++ = c;
            continue;
        }
        if (in->next >= in->end)
            break;
        c = *in->next++;
        if (c == 'u') {
            uint32_t scalar, low;
            if (!hex4(in, &scalar) || scalar == 0)
                break;
            if (scalar >= 0xD800 && scalar < 0xDC00) {
                if (in->end - in->next < 6 || *in->next++ != '\\' || *in->next++ != 'u' || !hex4(in, &low))
                    break;
                if (low < 0xDC00 || low > 0xDFFF)
                    break;
                scalar = 0x10000 + ((scalar - 0xD800) << 10) + (low - 0xDC00);
            }
            out = put_utf8(out, scalar);
            continue;
        }
        const char *names = "\"\\/bfnrt", *values = "\"\\/\b\f\n\r\t", *found = c ? strchr(names, c) : NULL;
        if (found == NULL)
            break;
        *out++ = values[found - names];
    }
    free(result);
    return NULL;
}

/* Skips one value of any type; it does not check the syntax of numbers and words. */
static int skip_value(struct reader *in) {
    int depth = 0;
    do {
        skip_space(in);
        if (in->next >= in->end)
            return 0;
        char c = *in->next;
        if (c == '"') {
            char *text = string(in);
            if (text == NULL)
                return 0;
            free(text);
        } else {
            if (c == '{' || c == '[')
                depth++;
            if (c == '}' || c == ']')
                depth--;
            in->next++;
            if (depth == 0 && c != '}' && c != ']') {
                while (in->next < in->end && !strchr(",}] \t\r\n", *in->next))
                    in->next++;
            }
        }
    } while (depth > 0);
    return depth == 0;
}

char *payload_string(const char *json, size_t length, const char *key) {
    struct reader in = {json, json + length};
    if (json == NULL || !take(&in, '{'))
        return NULL;
    do {
        char *name = string(&in);
        if (name == NULL || !take(&in, ':')) {
            free(name);
            return NULL;
        }
        int wanted = strcmp(name, key) == 0;
        free(name);
        skip_space(&in);
        if (wanted)
            return string(&in);
        if (!skip_value(&in))
            return NULL;
    } while (take(&in, ','));
    return NULL;
}
