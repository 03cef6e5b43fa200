/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 (FIPS 180-4) over a stream, with a state that can be stored and loaded in the middle of a file.
 */
#ifndef TREEHASHER_SHA256_H
#define TREEHASHER_SHA256_H

#include <stddef.h>
#include <stdint.h>

/** The size of a digest, in bytes. */
#define SHA256_DIGEST_SIZE 32
/** The size of a stored state, in bytes: eight words, the length so far and one block. */
#define SHA256_STATE_SIZE 104

/** A hash of the bytes so far. */
struct sha256 {
    uint32_t words[8];
    uint64_t length;   /**< Bytes taken in so far; length % 64 of them wait in `block`. */
    uint8_t block[64]; /**< The bytes that do not fill a block yet. */
};

/** Begins a hash. */
void sha256_begin(struct sha256 *hash);
/** Adds `length` bytes to the hash. */
void sha256_update(struct sha256 *hash, const void *bytes, size_t length);
/** Writes the digest; the hash must not be used after this call. */
void sha256_end(struct sha256 *hash, uint8_t digest[SHA256_DIGEST_SIZE]);
/** Writes the state in a byte order that does not depend on the machine. */
void sha256_store(const struct sha256 *hash, uint8_t state[SHA256_STATE_SIZE]);
/** Loads a stored state. */
void sha256_load(struct sha256 *hash, const uint8_t state[SHA256_STATE_SIZE]);

#endif
