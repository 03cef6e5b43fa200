/* Threads that wait for the disk, so that the transfers go on meanwhile. */
#ifndef BGTASK_TRANSFER_SYNC_H
#define BGTASK_TRANSFER_SYNC_H

#include "transfer.h"

/** The kinds of work; a transfer has at most one at a time. */
enum sync_kind { SYNC_RECORD, SYNC_FINISH };

/** Work that is done. */
struct sync_result {
    struct transfer *transfer;
    enum sync_kind kind;
    int code;            /**< 0, or the error number. */
    bool has_lost_bytes; /**< Whether bytes of the file could not be written. */
};

/** Starts the threads. `wake` is called on one of them after each piece of work. Returns false if no thread
 *  could be started. */
bool sync_start(void (*wake)(void));
/** Adds work, which begins with the next call of ::sync_submit; returns false if there is no memory. */
bool sync_add(struct transfer *transfer, enum sync_kind kind);
/** Gives all added work to the threads. */
void sync_submit(void);
/** Takes the result of work that is done; false if there is none. */
bool sync_take(struct sync_result *result);
/** Forbids a record that a thread has not finished, so that it describes no bytes that are discarded now. The
 *  result still comes. */
void sync_forbid(const struct transfer *transfer);

#endif
