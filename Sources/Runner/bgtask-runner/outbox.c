#include "outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* How many frames one system call sends. */
#define FRAMES_TOGETHER 64
/* How long to wait if the kernel lacks memory for a frame: our choice. */
#define SHORTAGE_MICROSECONDS 1000

struct outgoing {
    struct outgoing *next;
    size_t length, sent;
    int descriptors[OUTBOX_DESCRIPTORS], count;
    uint8_t bytes[];
};

static void drop_first(struct outbox *outbox) {
    struct outgoing *first = outbox->first;
    outbox->first = first->next;
    if (outbox->first == NULL)
        outbox->last = NULL;
    for (int i = 0; i < first->count; i++)
        close(first->descriptors[i]);
    free(first);
}

void outbox_abandon(struct outbox *outbox) {
    while (outbox->first != NULL)
        drop_first(outbox);
    outbox->socket = -1;
}

bool outbox_waits(const struct outbox *outbox) {
    return outbox->first != NULL;
}

/* Sends a frame, and those behind it that have no descriptors. */
static ssize_t send_some(int socket, struct outgoing *frame) {
    struct iovec bytes[FRAMES_TOGETHER];
    size_t frames = 0;
    for (struct outgoing *at = frame; at != NULL && frames < FRAMES_TOGETHER; at = at->next) {
        if (at != frame && at->count > 0)
            break;
        bytes[frames++] = (struct iovec){at->bytes + at->sent, at->length - at->sent};
    }
    struct msghdr message = {.msg_iov = bytes, .msg_iovlen = frames};
    union {
        char space[CMSG_SPACE(sizeof(int) * OUTBOX_DESCRIPTORS)];
        struct cmsghdr aligned;
    } control = {0};
    if (frame->sent == 0 && frame->count > 0) {
        size_t size = sizeof(int) * (size_t)frame->count;
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(header), frame->descriptors, size);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Whether the kernel lacks something at present; the other side is still there. */
static bool is_shortage(int code) {
    return code == ENOBUFS || code == ENOMEM || code == ETOOMANYREFS;
}

bool outbox_flush(struct outbox *outbox) {
    while (outbox->first != NULL) {
        ssize_t sent = send_some(outbox->socket, outbox->first);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && is_shortage(errno)) {
            usleep(SHORTAGE_MICROSECONDS); // or the loop would try again and again
            return true;
        }
        if (sent < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK;
        for (size_t left = (size_t)sent; outbox->first != NULL;) {
            struct outgoing *first = outbox->first;
            if (left < first->length - first->sent) {
                first->sent += left;
                break;
            }
            left -= first->length - first->sent;
            drop_first(outbox);
        }
    }
    return true;
}

void outbox_send(struct outbox *outbox, struct frame_writer *writer, const int *descriptors, int count) {
    outbox_queue(outbox, writer, descriptors, count);
    outbox_flush(outbox); // if the host is gone, the loop will notice the end of the socket
}

void outbox_queue(struct outbox *outbox, struct frame_writer *writer, const int *descriptors, int count) {
    struct outgoing *frame = NULL;
    if (outbox->socket >= 0 && frame_end(writer, &outbox->sequence))
        frame = malloc(sizeof(*frame) + writer->length);
    if (frame == NULL) {
        for (int i = 0; i < count; i++)
            close(descriptors[i]);
        return;
    }
    *frame = (struct outgoing){.length = writer->length, .count = count};
    if (count > 0)
        memcpy(frame->descriptors, descriptors, sizeof(int) * (size_t)count);
    memcpy(frame->bytes, writer->bytes, writer->length);
    if (outbox->last == NULL)
        outbox->first = frame;
    else
        outbox->last->next = frame;
    outbox->last = frame;
}
