/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a hash of a tree stands, so that the next attempt goes on from there.
 */
#ifndef TREEHASHER_CHECKPOINT_H
#define TREEHASHER_CHECKPOINT_H

#include "sha256.h"

/** The longest relative path that a position can name; longer ones are hashed, but not resumed within. */
#define POSITION_PATH_MAX 4096

/** Where the work stands: between two reads of one file, or (offset 0) before one. */
struct position {
    uint64_t
        output_length;  /**< Bytes of the output that are right; what follows them is from a later moment. */
    uint64_t done;      /**< Bytes hashed so far, for the progress. */
    uint64_t offset;    /**< Bytes of the file that `hash` has taken in. */
    uint64_t file_size; /**< Of the file, when it was opened: if it changed, the file is begun again. */
    int64_t file_modified;            /**< Nanoseconds since 1970, the same. */
    struct sha256 hash;               /**< Of the first `offset` bytes. */
    char path[POSITION_PATH_MAX + 1]; /**< Files before it in the order are done; "" before the first. */
};

/** The most bytes that a stored position takes. */
#define CHECKPOINT_MAX (8 + 5 * 8 + SHA256_STATE_SIZE + POSITION_PATH_MAX)

/** Stores a position; answers the bytes it took. */
size_t checkpoint_encode(const struct position *position, uint8_t bytes[CHECKPOINT_MAX]);
/** Reads a stored position; answers 0 if the bytes are none. */
int checkpoint_decode(const void *bytes, size_t length, struct position *position);

#endif
