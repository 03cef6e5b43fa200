/* The places of transfers: how the orders that wait in the program share its connections. */
#ifndef BGTASK_TRANSFER_PLACES_H
#define BGTASK_TRANSFER_PLACES_H

#include "transfer.h"

/** Notes whose order it is; false if there is no memory. The names are copied. */
bool places_join(struct transfer *transfer, const char *bundle, const char *server);
/** Forgets whose order it was, and gives back its place. */
void places_quit(struct transfer *transfer);

/** Gives a transfer a place, also if none is free. */
void places_take(struct transfer *transfer);
/** Gives a place back, if the transfer holds one. */
void places_leave(struct transfer *transfer);

/** The reserved transfer that begins next; NULL if there is none, or no place is free. Bundles with fewer
 *  places come first, then the one with the oldest transfer; within a bundle, a higher rank, then age. */
struct transfer *places_next(struct transfer *transfers);

/** Changes how many bytes a bundle may move from now on; -1 for no limit. Returns the bundle; NULL if no
 * order names it and none did since it had a limit. */
struct party *places_allow(const char *name, int64_t left);

#endif
