#include "wire.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of an attempt, this many bytes that belong to no body count for nothing, and one for each so many of the
 * body. Both numbers are our choice: a handshake of TLS has about 6 KB, the headers of a response 1 KB, and
 * records of TLS add 1 %. */
#define FREE_BYTES (16 << 10)
#define FREE_SHARE 8

static struct transfer *const *transfers;

void wire_start(struct transfer *const *list) {
    transfers = list;
}

void wire_count(struct transfer *transfer, int64_t count) {
    transfer->received += count;
    transfer->bundle->left -= count;
}

/* The bytes that were read from a connection; -1 if the kernel does not tell. */
static int64_t bytes_of(int socket) {
    struct tcp_info info;
    socklen_t size = sizeof(info);
    int unread = 0;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        size < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof(info.tcpi_bytes_received) ||
        ioctl(socket, FIONREAD, &unread) != 0)
        return -1;
    return (int64_t)info.tcpi_bytes_received - unread;
}

/* MARK: Sockets */

/* The most sockets that are looked at: libcurl keeps four idle ones for each transfer. */
#define SOCKETS_MAX 256

static int sockets[SOCKETS_MAX], socket_count;

static curl_socket_t on_open(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)context, (void)purpose;
    int opened = socket(address->family, address->socktype, address->protocol);
    if (opened >= 0 && socket_count < SOCKETS_MAX)
        sockets[socket_count++] = opened;
    return opened < 0 ? CURL_SOCKET_BAD : opened;
}

static int on_close(void *context, curl_socket_t closed) {
    (void)context;
    wire_look();
    // Another connection may get its number.
    for (struct transfer *one = *transfers; one != NULL; one = one->next)
        if (one->wire_socket == closed)
            one->wire = -1;
    for (int i = 0; i < socket_count; i++)
        if (sockets[i] == closed)
            sockets[i] = sockets[--socket_count];
    return close(closed);
}

void wire_attach(struct transfer *transfer) {
    curl_easy_setopt(transfer->handle, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(transfer->handle, CURLOPT_CLOSESOCKETFUNCTION, on_close);
}

/* The port of one end of a socket; 0 if it has none. */
static int port_of(int socket, int (*name)(int, struct sockaddr *, socklen_t *)) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {.any.sa_family = AF_UNSPEC};
    socklen_t size = sizeof(address);
    if (name(socket, &address.any, &size) != 0)
        return 0;
    return ntohs(address.any.sa_family == AF_INET    ? address.v4.sin_port
                 : address.any.sa_family == AF_INET6 ? address.v6.sin6_port
                                                     : 0);
}

void wire_join(struct transfer *transfer, int port, int local_port) {
    if (!transfer->bundle->is_limited)
        return;
    int socket = -1;
    for (int i = 0; i < socket_count && socket < 0; i++)
        if (port_of(sockets[i], getsockname) == local_port && port_of(sockets[i], getpeername) == port)
            socket = sockets[i];
    // The next request on the same connection: what came since the last look still counts.
    if (transfer->wire >= 0 && transfer->wire_socket == socket)
        return;
    transfer->wire_socket = socket;
    transfer->wire = socket < 0 ? -1 : bytes_of(socket);
    transfer->wire_body = transfer->received;
}

/* MARK: Bytes */

static bool shares(const struct transfer *one, const struct transfer *other) {
    return one->is_added && one->wire >= 0 && one->wire_socket == other->wire_socket;
}

/* Counts what a transfer's connection brought beyond bodies, and is not usual. */
static void charge(struct transfer *transfer) {
    int64_t body = transfer->received - transfer->charged;
    int64_t due = transfer->overhead - FREE_BYTES - body / FREE_SHARE - transfer->charged;
    if (due <= 0)
        return;
    transfer->charged += due;
    transfer->has_news = true;
    wire_count(transfer, due);
    transfer->wire_body = transfer->received;
    if (transfer->bundle->left <= 0)
        transfer_fail(transfer, END_FAULTY, OUT_OF_BYTES);
}

/* Looks at one connection, which transfers of HTTP/2 share. */
static void look(const struct transfer *first, int64_t bytes) {
    int64_t other = bytes - first->wire;
    int count = 0;
    for (struct transfer *one = *transfers; one != NULL; one = one->next)
        if (shares(one, first)) {
            other -= one->received - one->wire_body;
            count++;
        }
    int socket = first->wire_socket;
    for (struct transfer *one = *transfers; one != NULL; one = one->next)
        if (one->is_added && one->wire >= 0 && one->wire_socket == socket) {
            one->wire = bytes;
            one->wire_body = one->received;
            // May be negative: what was unread is asked for after the count.
            one->overhead += other / count;
            charge(one);
        }
}

void wire_look(void) {
    for (struct transfer *one = *transfers; one != NULL; one = one->next) {
        if (!one->is_added || !one->bundle->is_limited || one->wire < 0)
            continue;
        int64_t bytes = bytes_of(one->wire_socket);
        if (bytes > one->wire)
            look(one, bytes);
    }
}
