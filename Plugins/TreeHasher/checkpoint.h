/* SPDX-License-Identifier: Apache-2.0
 *
 * The position of a hash of a tree, from which the next attempt continues.
 */
#ifndef TREEHASHER_CHECKPOINT_H
#define TREEHASHER_CHECKPOINT_H

#include "sha256.h"

/** The longest relative path of a position, in bytes. Files with longer paths are never resumed. */
#define POSITION_PATH_MAX 4096

/** A position of the work: between two reads of one file, or, with offset 0, before a file. */
struct position {
    uint64_t output_length; /**< Bytes of the output at this position; later bytes are cut off. */
    uint64_t done;          /**< Bytes hashed so far, for the progress. */
    uint64_t offset;        /**< Bytes of the file that `hash` contains. */
    uint64_t file_size;     /**< Size when opened, in bytes. If it changes, the file is hashed again. */
    int64_t file_modified;  /**< Time of the last change, in ns since 1970; treated like the size. */
    struct sha256 hash;     /**< Hash of the first `offset` bytes. */
    char path[POSITION_PATH_MAX + 1]; /**< All files before it are done; "" before the first file. */
};

/** The largest size of a stored position, in bytes. */
#define CHECKPOINT_MAX (8 + 5 * 8 + SHA256_STATE_SIZE + POSITION_PATH_MAX)

/** Writes a position to `bytes`; returns the number of bytes. */
size_t checkpoint_encode(const struct position *position, uint8_t bytes[CHECKPOINT_MAX]);
/** Reads a stored position; returns 0 if the bytes are not a stored position. */
int checkpoint_decode(const void *bytes, size_t length, struct position *position);

#endif
