/* The attempts that the host has ordered, and how each begins and ends. */
#ifndef BGTASK_TRANSFER_ATTEMPTS_H
#define BGTASK_TRANSFER_ATTEMPTS_H

#include "orders.h"
#include "transfer.h"

/** Says where requests, files and reports go; all stay the caller's. */
void attempts_start(CURLM *multi, int directory, struct outbox *outbox);

/** All attempts, newest first; NULL if there is none. */
struct transfer *attempts(void);
/** The attempt of a transfer; NULL if there is none. */
struct transfer *attempt_find(uint64_t id);

/** Adds an attempt, which belongs to this list from now on; unless it is reserved, it begins. */
void attempt_add(struct transfer *transfer);
/** Begins an attempt, which can end it at once. */
void attempt_begin(struct transfer *transfer);
/** Stops an attempt; when no thread works on its file, reports its end and frees it. */
void attempt_end(struct transfer *transfer);

/** Begins the reserved attempts for which places are free. */
void attempts_begin_reserved(void);
/** Handles what libcurl and the threads have finished. */
void attempts_take(void);

#endif
