/* SPDX-License-Identifier: Apache-2.0 */
#include "payload.h"

#include <bgtask_json.h>

char *payload_string(const char *json, size_t length, const char *key) {
    /* A string is never longer than its text. */
    char *text = malloc(length + 1);
    if (text != NULL && bgtask_json_string(json, length, key, text, length + 1) >= 0)
        return text;
    free(text);
    return NULL;
}
