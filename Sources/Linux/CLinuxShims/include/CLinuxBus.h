/* SPDX-License-Identifier: Apache-2.0 */
/* A client of a message bus that uses sd-bus. The library is loaded at the first use; without it, the
 * machine counts as having no bus, and everything else works. Functions return a negative error number on
 * failure, as sd-bus does. Only the thread that opened a connection may use it. */
#ifndef CLINUXBUS_H
#define CLINUXBUS_H

#include <stdint.h>

typedef struct lx_bus lx_bus;
typedef struct lx_bus_message lx_bus_message;

/** Called for a message, which is valid until the handler returns. `reply` is the number that was given to
 *  lx_bus_call, or 0 for a signal. `error` is the error number of an error reply, or 0. */
typedef void (*lx_bus_handler)(void *context, lx_bus_message *message, uint64_t reply, int error);

/** Called for a method call to this connection. Returns 1 if lx_bus_reply or lx_bus_refuse is called for it,
 * now or later, and 0 if sd-bus must answer that there is no such method. */
typedef int (*lx_bus_server)(void *context, lx_bus_message *message);

/** Loads libsystemd or elogind's library. Returns 0, or -ENOENT if neither is installed. */
int lx_bus_load(void);

/** Begins to connect to an address (`unix:path=...`). Every signal and reply is passed to `handler`. */
int lx_bus_open(const char *address, lx_bus_handler handler, void *context, lx_bus **bus);

/** Closes a connection. No handler is called for replies that have not arrived. */
void lx_bus_close(lx_bus *bus);

/** Stores the descriptor to poll, the events to poll for, and the longest wait in ms (-1: no limit). */
int lx_bus_poll(lx_bus *bus, int *descriptor, short *events, int *timeout);

/** Sends and receives as much as possible without waiting. Returns more than 0 if it must be called again
 *  immediately. */
int lx_bus_process(lx_bus *bus);

/** Calls a method with strings as arguments, without starting its service. The handler gets the reply,
 *  with the number `reply`. */
int lx_bus_call(lx_bus *bus, const char *service, const char *path, const char *interface, const char *member,
                const char *const *arguments, int count, uint64_t reply);

/** Calls a method of a service, which the bus starts if it does not run. `types` is a letter for each
 *  argument: s for a string, u and i for a number in decimal without and with a sign, S for an empty array of
 *  strings, E for an empty dictionary; or only D for one dictionary from strings to variants
 *  with strings, whose keys and values are the arguments in turn. */
int lx_bus_request(lx_bus *bus, const char *service, const char *path, const char *interface,
                   const char *member, const char *types, const char *const *arguments, int count,
                   uint64_t reply);

/** Passes every method call to `server`, with the context of lx_bus_open. */
void lx_bus_serve(lx_bus *bus, lx_bus_server server);

/** Keeps a message beyond the handler, and releases it. */
lx_bus_message *lx_bus_keep(lx_bus_message *message);
void lx_bus_release(lx_bus_message *message);

/** Answers a call with nothing, or with an empty dictionary. */
int lx_bus_reply(lx_bus *bus, lx_bus_message *call, int with_dictionary);

/** Answers a call with an error: its name, such as org.freedesktop.DBus.Error.Failed, and a text for
 * people. */
int lx_bus_refuse(lx_bus *bus, lx_bus_message *call, const char *name, const char *text);

/** The fields of a message's header; NULL if the message does not have the field. */
const char *lx_bus_sender(lx_bus_message *message);
const char *lx_bus_path(lx_bus_message *message);
const char *lx_bus_interface(lx_bus_message *message);
const char *lx_bus_member(lx_bus_message *message);

/** Finds the type of the next value and, for a container, the types of its contents. Returns 0 at the end. */
int lx_bus_peek(lx_bus_message *message, char *type, const char **contents);

/** Reads a value that is not a container into 8 bytes. Strings and descriptors still belong to the
 *  message. */
int lx_bus_read(lx_bus_message *message, char type, void *value);

/** Enters and leaves a container. */
int lx_bus_enter(lx_bus_message *message, char type, const char *contents);
int lx_bus_leave(lx_bus_message *message);

/** Duplicates a descriptor of a message, close-on-exec, so that it outlives the message. */
int lx_bus_keep_descriptor(int descriptor);

#endif
