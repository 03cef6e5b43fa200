/* One attempt of a transfer with libcurl. */
#ifndef BGTASK_TRANSFER_FETCH_H
#define BGTASK_TRANSFER_FETCH_H

#include "transfer.h"

/** The largest number of redirects that are followed. */
#define REDIRECTS_MAX 20L

/** Prepares an attempt and adds it to the multi handle. On failure, returns false; the transfer says why. */
bool fetch_begin(CURLM *multi, struct transfer *transfer);
/** Measures what the request that has just ended cost. */
void fetch_measure(struct transfer *transfer);
/** Takes the transfer from the multi handle, if it belongs to it. */
void fetch_stop(CURLM *multi, struct transfer *transfer);
/** Interprets the end of the attempt: sets the kind of the end and the message. Returns true if the file must
 * now be made durable, or false if the attempt has ended or must be made again (`must_restart`). */
bool fetch_ended(struct transfer *transfer, CURLcode code);

#endif
