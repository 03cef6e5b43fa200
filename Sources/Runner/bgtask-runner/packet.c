#include "template.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
    char space[CMSG_SPACE(sizeof(int) * CLONE_DESCRIPTORS_MAX)];
    struct cmsghdr aligned;
};

bool packet_send(int socket, const void *packet, size_t size, const int *descriptors, int count, int flags) {
    struct iovec bytes = {(void *)packet, size};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    union control control = {0};
    if (count > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)count);
        memcpy(CMSG_DATA(header), descriptors, sizeof(int) * (size_t)count);
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL | flags);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size;
}

int packet_receive(int socket, void *packet, size_t size, int *descriptors, int *count, int flags) {
    struct iovec bytes = {packet, size};
    union control control;
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    ssize_t received;
    do
        received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
    while (received < 0 && errno == EINTR);
    *count = 0;
    if (received < 0)
        return -1;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        *count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(descriptors, CMSG_DATA(header), sizeof(int) * (size_t)*count);
    }
    bool is_whole = received == (ssize_t)size && (message.msg_flags & MSG_TRUNC) == 0;
    if (is_whole && (message.msg_flags & MSG_CTRUNC) == 0)
        return 1;
    for (int i = 0; i < *count; i++)
        close(descriptors[i]);
    *count = 0;
    if (is_whole)
        return PACKET_STRIPPED;
    if (received == 0)
        return 0;
    errno = EPROTO;
    return -1;
}

bool packet_send_listener(int socket, int listener) {
    struct template_answer answer = {.what = TEMPLATE_LISTENER};
    bool done = packet_send(socket, &answer, sizeof(answer), &listener, listener >= 0 ? 1 : 0, 0);
    if (listener >= 0)
        close(listener);
    return done;
}
