/* Frames on their way to the host: queued, so that a slow host never stops the launcher from killing and reaping. */
#ifndef BGTASK_RUNNER_OUTBOX_H
#define BGTASK_RUNNER_OUTBOX_H

#include "frames.h"

/** The most descriptors that go with a frame. */
#define OUTBOX_DESCRIPTORS 5

struct outgoing;

/** The queue of one socket. */
struct outbox {
    int socket; /**< Non-blocking; -1 once the host is gone, then frames are dropped. */
    uint16_t sequence;
    struct outgoing *first, *last;
};

/** Finishes and queues a frame and sends what the socket takes. The descriptors are closed when they are sent. */
void outbox_send(struct outbox *outbox, struct frame_writer *writer, const int *descriptors, int count);
/** Sends what the socket takes; false if the host is gone. */
bool outbox_flush(struct outbox *outbox);
/** True while something waits for the socket. */
bool outbox_waits(const struct outbox *outbox);
/** Drops everything, and every later frame. */
void outbox_abandon(struct outbox *outbox);

#endif
