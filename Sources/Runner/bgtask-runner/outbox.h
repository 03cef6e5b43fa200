/* A queue of frames to the host, so that a slow host never prevents the launcher from killing and reaping. */
#ifndef BGTASK_RUNNER_OUTBOX_H
#define BGTASK_RUNNER_OUTBOX_H

#include "frames.h"

/** The largest number of descriptors with one frame. */
#define OUTBOX_DESCRIPTORS 6

struct outgoing;

/** The queue of frames for one socket. */
struct outbox {
    int socket; /**< Non-blocking; -1 after the host has gone, and then frames are dropped. */
    uint16_t sequence;
    struct outgoing *first, *last;
};

/** Finishes a frame, queues it, and sends as much as the socket takes. The descriptors are closed after
 *  they were sent. */
void outbox_send(struct outbox *outbox, struct frame_writer *writer, const int *descriptors, int count);
/** Finishes a frame and queues it, and sends nothing. */
void outbox_queue(struct outbox *outbox, struct frame_writer *writer, const int *descriptors, int count);
/** Sends as much as the socket takes; false if the host is gone. */
bool outbox_flush(struct outbox *outbox);
/** Whether frames are waiting for the socket. */
bool outbox_waits(const struct outbox *outbox);
/** Drops all frames in the queue and all later ones. */
void outbox_abandon(struct outbox *outbox);

#endif
