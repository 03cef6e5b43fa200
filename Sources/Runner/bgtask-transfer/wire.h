/* What servers send beyond bodies: headers, the frames of HTTP/2, extensions of chunks, TLS. libcurl counts
 * none of it, and a server can send as much as it wants. */
#ifndef BGTASK_TRANSFER_WIRE_H
#define BGTASK_TRANSFER_WIRE_H

#include "transfer.h"

/** Tells where the list of all transfers begins. */
void wire_start(struct transfer *const *list);
/** Makes libcurl tell of the sockets that it opens and closes for a transfer. */
void wire_attach(struct transfer *transfer);
/** Notes the connection that a request has got, by its ports. */
void wire_join(struct transfer *transfer, int port, int local_port);
/** Looks at the connections of all transfers whose bundles have a limit, and counts for the bundle what goes
 *  beyond the usual. */
void wire_look(void);
/** Counts received bytes for the transfer and its bundle. */
void wire_count(struct transfer *transfer, int64_t count);

#endif
