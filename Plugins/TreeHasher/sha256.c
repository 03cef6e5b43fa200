/* SPDX-License-Identifier: Apache-2.0 */
#include "sha256.h"

#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t value, int bits) {
    return (value >> bits) | (value << (32 - bits));
}

static uint32_t load32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void store32(uint8_t *bytes, uint32_t value) {
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void compress(struct sha256 *hash, const uint8_t *block) {
    uint32_t schedule[64], v[8];
    for (int i = 0; i < 16; i++)
        schedule[i] = load32(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t early = schedule[i - 15], late = schedule[i - 2];
        schedule[i] = schedule[i - 16] + (rotate(early, 7) ^ rotate(early, 18) ^ early >> 3) +
                      schedule[i - 7] + (rotate(late, 17) ^ rotate(late, 19) ^ late >> 10);
    }
    memcpy(v, hash->words, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t first = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + choice +
                         constants[i] + schedule[i];
        uint32_t second = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + majority;
        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += first;
        v[0] = first + second;
    }
    for (int i = 0; i < 8; i++)
        hash->words[i] += v[i];
}

void sha256_begin(struct sha256 *hash) {
    /* The first 32 bits of the fractional parts of the square roots of the first eight primes (FIPS 180-4,
     * 5.3.3). */
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->words, start, sizeof start);
    memset(hash->block, 0, sizeof hash->block);
    hash->length = 0;
}

void sha256_update(struct sha256 *hash, const void *bytes, size_t length) {
    const uint8_t *next = bytes;
    size_t waiting = hash->length % 64;
    hash->length += length;
    if (waiting > 0) {
        size_t part = 64 - waiting < length ? 64 - waiting : length;
        memcpy(hash->block + waiting, next, part);
        next += part;
        length -= part;
        if (waiting + part < 64)
            return;
        compress(hash, hash->block);
    }
    for (; length >= 64; next += 64, length -= 64)
        compress(hash, next);
    if (length > 0)
        memcpy(hash->block, next, length);
}

void sha256_end(struct sha256 *hash, uint8_t digest[SHA256_DIGEST_SIZE]) {
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = hash->length * 8;
    size_t waiting = hash->length % 64;
    uint8_t length[8];
    sha256_update(hash, padding, waiting < 56 ? 56 - waiting : 120 - waiting);
    store32(length, (uint32_t)(bits >> 32));
    store32(length + 4, (uint32_t)bits);
    sha256_update(hash, length, sizeof length);
    for (int i = 0; i < 8; i++)
        store32(digest + 4 * i, hash->words[i]);
}

void sha256_store(const struct sha256 *hash, uint8_t state[SHA256_STATE_SIZE]) {
    for (int i = 0; i < 8; i++)
        store32(state + 4 * i, hash->words[i]);
    store32(state + 32, (uint32_t)(hash->length >> 32));
    store32(state + 36, (uint32_t)hash->length);
    memcpy(state + 40, hash->block, sizeof hash->block);
}

void sha256_load(struct sha256 *hash, const uint8_t state[SHA256_STATE_SIZE]) {
    for (int i = 0; i < 8; i++)
        hash->words[i] = load32(state + 4 * i);
    hash->length = (uint64_t)load32(state + 32) << 32 | load32(state + 36);
    memcpy(hash->block, state + 40, sizeof hash->block);
}
