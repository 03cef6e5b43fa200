/* SPDX-License-Identifier: Apache-2.0
 *
 * As much of HTTP/1.1 over a Unix socket as the load generator needs: one request at a time for each
 * connection.
 */
#ifndef BENCH_HTTP_H
#define BENCH_HTTP_H

#include <stddef.h>

/* A connection that is kept open; the answer of its last request. */
struct connection {
    int socket;
    char *buffer;
    size_t length, capacity;
    char *body; /* in `buffer`, NUL-terminated, once an answer is whole */
    int status; /* of the answer; 0 while it is not whole */
};

/* Connects; ends the program if that fails. */
struct connection http_connect(const char *path);

/* Sends one request whole. `body` NULL sends none. */
void http_send(struct connection *connection, const char *method, const char *path, const char *body);

/* Reads once; 1 if the answer is whole now. Ends the program if the peer is gone. */
int http_read(struct connection *connection);

/* Sends, and reads the whole answer; its status. */
int http_ask(struct connection *connection, const char *method, const char *path, const char *body);

/* Says why, and ends the program. */
_Noreturn void die(const char *what, const char *why);

#endif
