/* SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint.h"

#include <string.h>

/* The name and version of the format. A checkpoint with another mark is ignored, and the work starts over. */
static const char mark[8] = "treeha1";

static uint8_t *put64(uint8_t *out, uint64_t value) {
    for (int i = 0; i < 8; i++)
        *out++ = (uint8_t)(value >> 8 * i);
    return out;
}

static uint64_t get64(const uint8_t **in) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t) * (*in)++ << 8 * i;
    return value;
}

size_t checkpoint_encode(const struct position *position, uint8_t bytes[CHECKPOINT_MAX]) {
    uint8_t *out = bytes;
    memcpy(out, mark, sizeof mark);
    out = put64(out + sizeof mark, position->output_length);
    out = put64(out, position->done);
    out = put64(out, position->offset);
    out = put64(out, position->file_size);
    out = put64(out, (uint64_t)position->file_modified);
    sha256_store(&position->hash, out);
    out += SHA256_STATE_SIZE;
    size_t path = strlen(position->path);
    memcpy(out, position->path, path);
    return (size_t)(out - bytes) + path;
}

int checkpoint_decode(const void *bytes, size_t length, struct position *position) {
    size_t fixed = CHECKPOINT_MAX - POSITION_PATH_MAX;
    if (bytes == NULL || length < fixed || length > CHECKPOINT_MAX || memcmp(bytes, mark, sizeof mark) != 0)
        return 0;
    const uint8_t *in = (const uint8_t *)bytes + sizeof mark;
    position->output_length = get64(&in);
    position->done = get64(&in);
    position->offset = get64(&in);
    position->file_size = get64(&in);
    position->file_modified = (int64_t)get64(&in);
    sha256_load(&position->hash, in);
    in += SHA256_STATE_SIZE;
    memcpy(position->path, in, length - fixed);
    position->path[length - fixed] = 0;
    return position->hash.length == position->offset && position->offset <= position->file_size;
}
