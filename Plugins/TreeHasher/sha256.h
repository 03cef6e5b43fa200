/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 (FIPS 180-4) over a stream, with a state that can be stored and taken up again in the middle of a
 * file.
 */
#ifndef TREEHASHER_SHA256_H
#define TREEHASHER_SHA256_H

#include <stddef.h>
#include <stdint.h>

/** Bytes of a digest. */
#define SHA256_DIGEST_SIZE 32
/** Bytes of a stored state: eight words, the length so far, one block. */
#define SHA256_STATE_SIZE 104

/** A hash under way. */
struct sha256 {
    uint32_t words[8];
    uint64_t length;   /**< Bytes taken in so far; length % 64 of them wait in `block`. */
    uint8_t block[64]; /**< The bytes that do not fill a block yet. */
};

/** Begins a hash. */
void sha256_begin(struct sha256 *hash);
/** Takes in `length` bytes. */
void sha256_update(struct sha256 *hash, const void *bytes, size_t length);
/** Ends the hash; its state is used up. */
void sha256_end(struct sha256 *hash, uint8_t digest[SHA256_DIGEST_SIZE]);
/** Writes the state in an order of bytes that does not depend on the machine. */
void sha256_store(const struct sha256 *hash, uint8_t state[SHA256_STATE_SIZE]);
/** Takes up a stored state. */
void sha256_load(struct sha256 *hash, const uint8_t state[SHA256_STATE_SIZE]);

#endif
