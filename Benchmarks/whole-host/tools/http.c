/* SPDX-License-Identifier: Apache-2.0 */
#include "http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void die(const char *what, const char *why) {
    fprintf(stderr, "bench-load: %s: %s\n", what, why);
    exit(1);
}

struct connection http_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct connection connection = {.socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (strlen(path) >= sizeof address.sun_path)
        die(path, "the path is too long for a socket");
    strcpy(address.sun_path, path);
    if (connection.socket < 0 || connect(connection.socket, (struct sockaddr *)&address, sizeof address) != 0)
        die(path, strerror(errno));
    connection.capacity = 1 << 16;
    connection.buffer = malloc(connection.capacity);
    return connection;
}

void http_send(struct connection *connection, const char *method, const char *path, const char *body) {
    char request[2048];
    int length =
        snprintf(request, sizeof request,
                 "%s %s HTTP/1.1\r\nHost: bgtask\r\nContent-Type: application/json\r\nContent-Length: "
                 "%zu\r\n\r\n%s",
                 method, path, body ? strlen(body) : 0, body ? body : "");
    if (length < 0 || (size_t)length >= sizeof request)
        die(path, "the request is too long");
    connection->length = 0;
    connection->status = 0;
    for (int sent = 0; sent < length;) {
        ssize_t step = send(connection->socket, request + sent, (size_t)(length - sent), MSG_NOSIGNAL);
        if (step < 0)
            die("send", strerror(errno));
        sent += (int)step;
    }
}

int http_read(struct connection *connection) {
    if (connection->capacity - connection->length < 4096) {
        connection->capacity *= 2;
        connection->buffer = realloc(connection->buffer, connection->capacity);
    }
    ssize_t count = read(connection->socket, connection->buffer + connection->length,
                         connection->capacity - connection->length - 1);
    if (count <= 0)
        die("the host closed the connection", count < 0 ? strerror(errno) : "end of file");
    connection->length += (size_t)count;
    connection->buffer[connection->length] = 0;
    char *end = strstr(connection->buffer, "\r\n\r\n");
    if (!end)
        return 0;
    char *field = strcasestr(connection->buffer, "content-length:");
    size_t body = field && field < end ? strtoul(field + 15, NULL, 10) : 0;
    connection->body = end + 4;
    if (connection->length < (size_t)(connection->body - connection->buffer) + body)
        return 0;
    connection->status = atoi(connection->buffer + strlen("HTTP/1.1 "));
    return 1;
}

int http_ask(struct connection *connection, const char *method, const char *path, const char *body) {
    http_send(connection, method, path, body);
    while (!http_read(connection)) {
    }
    return connection->status;
}
