/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "CLinuxBus.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* The types and functions of sd-bus, from its manual pages; the types are only used through pointers. */
typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct sd_bus_slot sd_bus_slot;
/* The one type whose members are used. */
typedef struct {
    const char *name, *message;
    int need_free;
} sd_bus_error;
typedef int (*message_handler)(sd_bus_message *, void *, void *);

#define SD_BUS_CALLS(CALL)                                                                                   \
    CALL(int, new, (sd_bus **))                                                                              \
    CALL(int, set_address, (sd_bus *, const char *))                                                         \
    CALL(int, set_bus_client, (sd_bus *, int))                                                               \
    CALL(int, negotiate_fds, (sd_bus *, int))                                                                \
    CALL(int, start, (sd_bus *))                                                                             \
    CALL(void, close, (sd_bus *))                                                                            \
    CALL(sd_bus *, unref, (sd_bus *))                                                                        \
    CALL(int, get_fd, (sd_bus *))                                                                            \
    CALL(int, get_events, (sd_bus *))                                                                        \
    CALL(int, get_timeout, (sd_bus *, uint64_t *))                                                           \
    CALL(int, process, (sd_bus *, sd_bus_message **))                                                        \
    CALL(int, add_filter, (sd_bus *, sd_bus_slot **, message_handler, void *))                               \
    CALL(int, call_async, (sd_bus *, sd_bus_slot **, sd_bus_message *, message_handler, void *, uint64_t))   \
    CALL(sd_bus_slot *, slot_unref, (sd_bus_slot *))                                                         \
    CALL(int, slot_set_floating, (sd_bus_slot *, int))                                                       \
    CALL(int, slot_set_destroy_callback, (sd_bus_slot *, void (*)(void *)))                                  \
    CALL(int, message_new_method_call,                                                                       \
         (sd_bus *, sd_bus_message **, const char *, const char *, const char *, const char *))              \
    CALL(sd_bus_message *, message_unref, (sd_bus_message *))                                                \
    CALL(int, message_set_auto_start, (sd_bus_message *, int))                                               \
    CALL(int, message_append_basic, (sd_bus_message *, char, const void *))                                  \
    CALL(int, message_open_container, (sd_bus_message *, char, const char *))                                \
    CALL(int, message_close_container, (sd_bus_message *))                                                   \
    CALL(int, message_new_method_return, (sd_bus_message *, sd_bus_message **))                              \
    CALL(int, message_new_method_error, (sd_bus_message *, sd_bus_message **, const sd_bus_error *))         \
    CALL(sd_bus_message *, message_ref, (sd_bus_message *))                                                  \
    CALL(int, send, (sd_bus *, sd_bus_message *, uint64_t *))                                                \
    CALL(int, message_get_errno, (sd_bus_message *))                                                         \
    CALL(int, message_get_type, (sd_bus_message *, uint8_t *))                                               \
    CALL(const char *, message_get_sender, (sd_bus_message *))                                               \
    CALL(const char *, message_get_path, (sd_bus_message *))                                                 \
    CALL(const char *, message_get_interface, (sd_bus_message *))                                            \
    CALL(const char *, message_get_member, (sd_bus_message *))                                               \
    CALL(int, message_peek_type, (sd_bus_message *, char *, const char **))                                  \
    CALL(int, message_read_basic, (sd_bus_message *, char, void *))                                          \
    CALL(int, message_enter_container, (sd_bus_message *, char, const char *))                               \
    CALL(int, message_exit_container, (sd_bus_message *))

static struct {
#define MEMBER(RESULT, NAME, PARAMETERS) RESULT(*NAME) PARAMETERS;
    SD_BUS_CALLS(MEMBER)
#undef MEMBER
} sd;

struct lx_bus {
    sd_bus *bus;
    lx_bus_handler handler;
    lx_bus_server server;
    void *context;
};

struct pending_call {
    struct lx_bus *owner;
    uint64_t reply;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int load_result = -ENOENT;

static void load(void) {
    static const char *const names[] = {"libsystemd.so.0", "libelogind.so.0"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!library)
            continue;
        int missing = 0;
#define FIND(RESULT, NAME, PARAMETERS)                                                                       \
    if (!(sd.NAME = (RESULT(*) PARAMETERS)dlsym(library, "sd_bus_" #NAME)))                                  \
        missing++;
        SD_BUS_CALLS(FIND)
#undef FIND
        if (!missing) {
            load_result = 0;
            return;
        }
        dlclose(library);
    }
}

int lx_bus_load(void) {
    pthread_once(&once, load);
    return load_result;
}

static int on_message(sd_bus_message *message, void *context, void *error) {
    (void)error;
    struct lx_bus *owner = context;
    uint8_t type = 0;
    /* SD_BUS_MESSAGE_SIGNAL */
    if (sd.message_get_type(message, &type) >= 0 && type == 4)
        owner->handler(owner->context, (lx_bus_message *)message, 0, 0);
    /* SD_BUS_MESSAGE_METHOD_CALL */
    if (type == 1 && owner->server)
        return owner->server(owner->context, (lx_bus_message *)message);
    /* 0 lets other filters see the message, too. */
    return 0;
}

static int on_reply(sd_bus_message *message, void *context, void *error) {
    (void)error;
    struct pending_call *call = context;
    call->owner->handler(call->owner->context, (lx_bus_message *)message, call->reply,
                         sd.message_get_errno(message));
    return 1;
}

int lx_bus_open(const char *address, lx_bus_handler handler, void *context, lx_bus **result) {
    int code = lx_bus_load();
    if (code < 0)
        return code;
    struct lx_bus *made = calloc(1, sizeof *made);
    if (!made)
        return -ENOMEM;
    made->handler = handler;
    made->context = context;
    code = sd.new(&made->bus);
    if (code >= 0)
        code = sd.set_address(made->bus, address);
    if (code >= 0)
        code = sd.set_bus_client(made->bus, 1);
    if (code >= 0)
        code = sd.negotiate_fds(made->bus, 1);
    if (code >= 0)
        code = sd.add_filter(made->bus, NULL, on_message, made);
    if (code >= 0)
        code = sd.start(made->bus);
    if (code < 0) {
        lx_bus_close(made);
        return code;
    }
    *result = made;
    return 0;
}

void lx_bus_close(lx_bus *bus) {
    if (bus->bus) {
        sd.close(bus->bus);
        sd.unref(bus->bus);
    }
    free(bus);
}

int lx_bus_poll(lx_bus *bus, int *descriptor, short *events, int *timeout) {
    *descriptor = sd.get_fd(bus->bus);
    if (*descriptor < 0)
        return *descriptor;
    int wanted = sd.get_events(bus->bus);
    if (wanted < 0)
        return wanted;
    *events = (short)wanted;
    uint64_t until = UINT64_MAX;
    int code = sd.get_timeout(bus->bus, &until);
    if (code < 0)
        return code;
    *timeout = -1;
    if (until != UINT64_MAX) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        uint64_t passed = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
        uint64_t left = until > passed ? (until - passed + 999) / 1000 : 0;
        *timeout = left > 60000 ? 60000 : (int)left;
    }
    return 0;
}

int lx_bus_process(lx_bus *bus) {
    return sd.process(bus->bus, NULL);
}

/* Sends a call and frees the message. */
static int send_call(lx_bus *bus, sd_bus_message *message, int code, uint64_t reply) {
    struct pending_call *call = malloc(sizeof *call);
    if (!call)
        code = -ENOMEM;
    sd_bus_slot *slot = NULL;
    const uint64_t five_seconds = 5000000;
    if (code >= 0) {
        call->owner = bus;
        call->reply = reply;
        code = sd.call_async(bus->bus, &slot, message, on_reply, call, five_seconds);
    }
    if (code >= 0)
        code = sd.slot_set_destroy_callback(slot, free);
    if (code < 0) {
        free(call);
    } else {
        /* From here on, the connection owns the call and frees it. */
        sd.slot_set_floating(slot, 1);
    }
    if (slot)
        sd.slot_unref(slot);
    if (message)
        sd.message_unref(message);
    return code;
}

int lx_bus_call(lx_bus *bus, const char *service, const char *path, const char *interface, const char *member,
                const char *const *arguments, int count, uint64_t reply) {
    sd_bus_message *message = NULL;
    int code = sd.message_new_method_call(bus->bus, &message, service, path, interface, member);
    /* Reading the state of the machine must not start services. */
    if (code >= 0)
        code = sd.message_set_auto_start(message, 0);
    for (int i = 0; code >= 0 && i < count; i++)
        code = sd.message_append_basic(message, 's', arguments[i]);
    return send_call(bus, message, code, reply);
}

/* Appends a dictionary from strings to variants with strings; `arguments` are its keys and values in turn. */
static int append_dictionary(sd_bus_message *message, const char *const *arguments, int count) {
    int code = sd.message_open_container(message, 'a', "{sv}");
    for (int i = 0; code >= 0 && i + 1 < count; i += 2) {
        code = sd.message_open_container(message, 'e', "sv");
        if (code >= 0)
            code = sd.message_append_basic(message, 's', arguments[i]);
        if (code >= 0)
            code = sd.message_open_container(message, 'v', "s");
        if (code >= 0)
            code = sd.message_append_basic(message, 's', arguments[i + 1]);
        if (code >= 0)
            code = sd.message_close_container(message);
        if (code >= 0)
            code = sd.message_close_container(message);
    }
    return code < 0 ? code : sd.message_close_container(message);
}

/* Appends one argument of the type that its letter names; see lx_bus_request. */
static int append_argument(sd_bus_message *message, char type, const char *text) {
    if (type == 'u') {
        uint32_t number = (uint32_t)strtoul(text, NULL, 10);
        return sd.message_append_basic(message, 'u', &number);
    }
    if (type == 'i') {
        int32_t number = (int32_t)strtol(text, NULL, 10);
        return sd.message_append_basic(message, 'i', &number);
    }
    if (type == 'E')
        return append_dictionary(message, NULL, 0);
    if (type == 'S') {
        int code = sd.message_open_container(message, 'a', "s");
        return code < 0 ? code : sd.message_close_container(message);
    }
    return sd.message_append_basic(message, 's', text);
}

int lx_bus_request(lx_bus *bus, const char *service, const char *path, const char *interface,
                   const char *member, const char *types, const char *const *arguments, int count,
                   uint64_t reply) {
    sd_bus_message *message = NULL;
    int code = sd.message_new_method_call(bus->bus, &message, service, path, interface, member);
    if (code >= 0 && types[0] == 'D') {
        code = append_dictionary(message, arguments, count);
    } else {
        for (int i = 0; code >= 0 && i < count; i++)
            code = append_argument(message, types[i], arguments[i]);
    }
    return send_call(bus, message, code, reply);
}

void lx_bus_serve(lx_bus *bus, lx_bus_server server) {
    bus->server = server;
}

lx_bus_message *lx_bus_keep(lx_bus_message *message) {
    return (lx_bus_message *)sd.message_ref((sd_bus_message *)message);
}

void lx_bus_release(lx_bus_message *message) {
    sd.message_unref((sd_bus_message *)message);
}

int lx_bus_reply(lx_bus *bus, lx_bus_message *call, int with_dictionary) {
    sd_bus_message *answer = NULL;
    int code = sd.message_new_method_return((sd_bus_message *)call, &answer);
    if (code >= 0 && with_dictionary)
        code = append_dictionary(answer, NULL, 0);
    if (code >= 0)
        code = sd.send(bus->bus, answer, NULL);
    if (answer)
        sd.message_unref(answer);
    return code;
}

int lx_bus_refuse(lx_bus *bus, lx_bus_message *call, const char *name, const char *text) {
    sd_bus_message *answer = NULL;
    sd_bus_error error = {.name = name, .message = text};
    int code = sd.message_new_method_error((sd_bus_message *)call, &answer, &error);
    if (code >= 0)
        code = sd.send(bus->bus, answer, NULL);
    if (answer)
        sd.message_unref(answer);
    return code;
}

const char *lx_bus_sender(lx_bus_message *message) {
    return sd.message_get_sender((sd_bus_message *)message);
}

const char *lx_bus_path(lx_bus_message *message) {
    return sd.message_get_path((sd_bus_message *)message);
}

const char *lx_bus_interface(lx_bus_message *message) {
    return sd.message_get_interface((sd_bus_message *)message);
}

const char *lx_bus_member(lx_bus_message *message) {
    return sd.message_get_member((sd_bus_message *)message);
}

int lx_bus_peek(lx_bus_message *message, char *type, const char **contents) {
    return sd.message_peek_type((sd_bus_message *)message, type, contents);
}

int lx_bus_read(lx_bus_message *message, char type, void *value) {
    return sd.message_read_basic((sd_bus_message *)message, type, value);
}

int lx_bus_enter(lx_bus_message *message, char type, const char *contents) {
    return sd.message_enter_container((sd_bus_message *)message, type, contents);
}

int lx_bus_leave(lx_bus_message *message) {
    return sd.message_exit_container((sd_bus_message *)message);
}

int lx_bus_keep_descriptor(int descriptor) {
    int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    return own < 0 ? -errno : own;
}
