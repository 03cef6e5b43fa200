/* The bytes of an attempt: what happens when libcurl has a header line or bytes, or asks for bytes. */
#ifndef BGTASK_TRANSFER_FLOW_H
#define BGTASK_TRANSFER_FLOW_H

#include "transfer.h"

/* Why an upload fails whose file is not what it was when the attempt began. */
#define FILE_CHANGED "the file changed while it was sent"

/** Tells the handle of a transfer whom to call. */
void flow_attach(struct transfer *transfer);
/** Forgets the bytes of the file; false if that failed, and the transfer says why. */
bool flow_discard(struct transfer *transfer);
/** Whether the transfer waits in libcurl's queue for a connection. */
bool flow_is_queued(const struct transfer *transfer);
/** Lets a transfer go on that waits for bytes of its bundle. */
void flow_go_on(struct transfer *transfer);

#endif
