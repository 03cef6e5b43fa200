/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads one string from a JSON payload into memory of its own.
 */
#ifndef TREEHASHER_PAYLOAD_H
#define TREEHASHER_PAYLOAD_H

#include <stddef.h>

/**
 * Returns the string value of a key of the object `json`; NULL if there is no such string or the text is not
 * an object. The caller frees the result with free(). The host has already checked that a payload is a JSON
 * object.
 */
char *payload_string(const char *json, size_t length, const char *key);

#endif
