/* SPDX-License-Identifier: Apache-2.0 */
/* A client of a message bus by sd-bus, whose library is loaded when it is first asked for: a machine without it has
 * no bus, and everything else works. Functions return a negative error number on failure, as sd-bus does.
 * A connection belongs to the thread that opened it. */
#ifndef CLINUXBUS_H
#define CLINUXBUS_H

#include <stdint.h>

typedef struct lx_bus lx_bus;
typedef struct lx_bus_message lx_bus_message;

/** What is called for a message: valid until it returns. `reply` is the number given to lx_bus_call, 0 for a signal;
 *  `error` is the number of an error reply, else 0. */
typedef void (*lx_bus_handler)(void *context, lx_bus_message *message, uint64_t reply, int error);

/** Loads libsystemd, or elogind's library. 0, or -ENOENT where neither is there. */
int lx_bus_load(void);

/** Begins to connect to an address (`unix:path=...`); every signal and reply goes to `handler`. */
int lx_bus_open(const char *address, lx_bus_handler handler, void *context, lx_bus **bus);

/** Drops a connection; pending replies never come. */
void lx_bus_close(lx_bus *bus);

/** The descriptor to poll, the events to poll for, and the longest wait in ms (-1: no limit). */
int lx_bus_poll(lx_bus *bus, int *descriptor, short *events, int *timeout);

/** Sends and receives what it can without waiting. More than 0 if it should be called again at once. */
int lx_bus_process(lx_bus *bus);

/** Calls a method whose arguments are strings, without starting the service; the answer comes with `reply`. */
int lx_bus_call(lx_bus *bus, const char *service, const char *path, const char *interface, const char *member,
                const char *const *arguments, int count, uint64_t reply);

/** Parts of a message's head; NULL if it has none. */
const char *lx_bus_sender(lx_bus_message *message);
const char *lx_bus_path(lx_bus_message *message);
const char *lx_bus_interface(lx_bus_message *message);
const char *lx_bus_member(lx_bus_message *message);

/** The type of the next value and, of a container, of what is in it. 0 at the end. */
int lx_bus_peek(lx_bus_message *message, char *type, const char **contents);

/** Reads a value that is not a container into 8 bytes; a string and a descriptor stay the message's. */
int lx_bus_read(lx_bus_message *message, char type, void *value);

/** Steps into and out of a container. */
int lx_bus_enter(lx_bus_message *message, char type, const char *contents);
int lx_bus_leave(lx_bus_message *message);

/** A descriptor of our own for one of a message, close-on-exec. */
int lx_bus_keep_descriptor(int descriptor);

#endif
