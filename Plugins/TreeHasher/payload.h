/* SPDX-License-Identifier: Apache-2.0
 *
 * One string out of a payload: as much JSON as this plugin needs.
 */
#ifndef TREEHASHER_PAYLOAD_H
#define TREEHASHER_PAYLOAD_H

#include <stddef.h>

/**
 * The string value of a key of the object that `json` is; NULL if there is none, or if the text is no such
 * object. The result is the caller's, from malloc. The host has checked already that a payload is a JSON
 * object.
 */
char *payload_string(const char *json, size_t length, const char *key);

#endif
