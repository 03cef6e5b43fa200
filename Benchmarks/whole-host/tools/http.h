/* SPDX-License-Identifier: Apache-2.0
 *
 * A small client for HTTP/1.1 over a Unix socket, for the load generator. Each connection has one request at
 * a time.
 */
#ifndef BENCH_HTTP_H
#define BENCH_HTTP_H

#include <stddef.h>

/* A connection that stays open, and the answer to its last request. */
struct connection {
    int socket;
    char *buffer;
    size_t length, capacity;
    char *body; /* points into `buffer`, NUL-terminated, once the answer is complete */
    int status; /* status of the answer; 0 until the answer is complete */
};

/* Connects to a Unix socket. If that fails, it ends the program. */
struct connection http_connect(const char *path);

/* Sends one request completely. If `body` is NULL, the request has no body. */
void http_send(struct connection *connection, const char *method, const char *path, const char *body);

/* Reads once. Returns 1 if the answer is complete. If the peer has closed the connection, it ends the
 * program. */
int http_read(struct connection *connection);

/* Sends a request and reads the complete answer. Returns its status. */
int http_ask(struct connection *connection, const char *method, const char *path, const char *body);

/* Prints `what` and `why`, and ends the program. */
_Noreturn void die(const char *what, const char *why);

#endif
