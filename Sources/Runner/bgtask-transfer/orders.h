/* The messages between the host and this program, as Documentation/Transfers.md describes them. They
 * have the frames of the runner protocol. */
#ifndef BGTASK_TRANSFER_ORDERS_H
#define BGTASK_TRANSFER_ORDERS_H

#include "../bgtask-runner/frames.h"
#include "../bgtask-runner/outbox.h"
#include "transfer.h"

/** The version of the messages. */
#define TRANSFER_PROTOCOL_VERSION 3u

/** The kinds of messages, with the names in Documentation/Transfers.md. */
enum transfer_message {
    TRANSFER_BEGIN = 0x60,
    TRANSFER_CANCEL = 0x61,
    TRANSFER_PROMOTE = 0x62,
    TRANSFER_ALLOW = 0x63,
    TRANSFER_HELLO = 0x68,
    TRANSFER_RESPONSE = 0x69,
    TRANSFER_PROGRESS = 0x6A,
    TRANSFER_ENDED = 0x6B,
    TRANSFER_ALIVE = 0x6C,
    TRANSFER_FAILED = 0x6D,
    TRANSFER_BEGAN = 0x6E,
};

/** Queues the first message: the version of the messages. */
void report_hello(struct outbox *outbox);
/** Queues the status and headers of a transfer's final response. */
void report_response(struct outbox *outbox, const struct transfer *transfer, bool is_whole);
/** Queues the news that a reserved transfer has begun. */
void report_began(struct outbox *outbox, const struct transfer *transfer);
/** Queues how far a transfer is. */
void report_progress(struct outbox *outbox, const struct transfer *transfer);
/** Queues the sign that the program is alive. */
void report_alive(struct outbox *outbox);
/** Sends why the program ends, as its last message. */
void report_failed(struct outbox *outbox, const char *message);
/** Queues the end of an attempt. */
void report_ended(struct outbox *outbox, const struct transfer *transfer);

/** Makes a transfer from a *begin* message; `upload` is its file, or -1. NULL if there is no memory. */
struct transfer *order_read(struct body body, int upload);

#endif
