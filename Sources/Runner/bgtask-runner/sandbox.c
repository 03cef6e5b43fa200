#include "sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sandbox_refused(const char *step, char *finding, size_t size) {
    int code = errno;
    snprintf(finding, size, "the sandbox can't be applied: %s: %s (%d)", step, strerror(code), code);
    return false;
}

unsigned sandbox_layer_named(const char *name) {
    static const char *const names[] = {"namespaces",    "networkNamespace", "capabilities", "landlock",
                                        "landlockPorts", "landlockScopes",   "seccomp",      "user"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return 1u << i;
    return 0;
}

/* Appends a copy of a text. */
static bool append(struct paths *paths, struct value value) {
    char **items = realloc(paths->items, (paths->count + 1) * sizeof(char *));
    if (items == NULL)
        return false;
    paths->items = items;
    items[paths->count] = strndup((const char *)value.bytes, value.length);
    return items[paths->count++] != NULL;
}

static bool parse_ports(struct sandbox *sandbox, struct value value) {
    sandbox->port_count = value.length / 2;
    sandbox->ports = calloc(sandbox->port_count + 1, sizeof(uint16_t));
    if (sandbox->ports == NULL || value.length % 2 != 0)
        return false;
    for (size_t i = 0; i < sandbox->port_count; i++)
        sandbox->ports[i] = (uint16_t)(value.bytes[2 * i] | value.bytes[2 * i + 1] << 8);
    return true;
}

static bool parse_layer(struct sandbox *sandbox, struct value value) {
    char name[32];
    snprintf(name, sizeof(name), "%.*s", (int)value.length, (const char *)value.bytes);
    unsigned layer = sandbox_layer_named(name);
    sandbox->layers |= layer;
    return layer != 0;
}

static bool parse_network(struct sandbox *sandbox, struct value value) {
    bool all = value.length == 3 && memcmp(value.bytes, "all", 3) == 0;
    sandbox->network = all ? NETWORK_ALL : NETWORK_CONNECT;
    return all || (value.length == 7 && memcmp(value.bytes, "connect", 7) == 0);
}

static bool parse_observing(struct sandbox *sandbox, struct value value) {
    bool all = value.length == 3 && memcmp(value.bytes, "all", 3) == 0;
    sandbox->observe = all ? OBSERVE_ALL : OBSERVE_REFUSED;
    return all || (value.length == 7 && memcmp(value.bytes, "refused", 7) == 0);
}

bool sandbox_parse(struct sandbox *sandbox, struct body body) {
    uint8_t tag;
    struct value value;
    bool done = true;
    *sandbox = (struct sandbox){.library = body_text(body, 2), .listener = -1};
    for (size_t at = 0; done && body_next(body, &at, &tag, &value);) {
        switch (tag) {
        case 12:
            done = parse_layer(sandbox, value);
            break;
        case 13:
            done = append(&sandbox->read, value);
            break;
        case 14:
            done = append(&sandbox->write, value);
            break;
        case 15:
            done = append(&sandbox->devices, value);
            break;
        case 16:
            done = parse_network(sandbox, value);
            break;
        case 17:
            done = parse_ports(sandbox, value);
            break;
        case 18:
            sandbox->subprocesses = value_number(value) != 0;
            break;
        case 19:
            done = parse_observing(sandbox, value);
            break;
        case 20:
            sandbox->user = (uint32_t)value_number(value);
            done = sandbox->user != 0 && sandbox->user == value_number(value);
            break;
        case 21:
            sandbox->without_shared_memory = value_number(value) != 0;
            break;
        default:
            break;
        }
    }
    return done && (!sandbox_has_user(sandbox) || sandbox->user != 0);
}

static void free_paths(struct paths *paths) {
    for (size_t i = 0; i < paths->count; i++)
        free(paths->items[i]);
    free(paths->items);
}

void sandbox_free(struct sandbox *sandbox) {
    free_paths(&sandbox->read);
    free_paths(&sandbox->write);
    free_paths(&sandbox->devices);
    free(sandbox->ports);
    free(sandbox->library);
    *sandbox = (struct sandbox){0};
}
