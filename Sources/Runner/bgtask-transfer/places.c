#include "places.h"

#include <stdlib.h>
#include <string.h>

/* The limits of the host's TransferBook. */
#define PLACES 24
#define PLACES_PER_SERVER 6
/* The largest number of transfers that wait for the disk without a place: each has two open files. */
#define WHOLE_MAX 64

static struct party *bundles, *servers;
static unsigned active;

static struct party *join(struct party **list, const char *name) {
    struct party *party = *list;
    while (party != NULL && strcmp(party->name, name) != 0)
        party = party->next;
    if (party == NULL) {
        party = calloc(1, sizeof(*party));
        if (party == NULL || (party->name = strdup(name)) == NULL) {
            free(party);
            return NULL;
        }
        party->next = *list;
        *list = party;
    }
    party->orders++;
    return party;
}

static void drop(struct party **list, struct party *party) {
    while (*list != party)
        list = &(*list)->next;
    *list = party->next;
    free(party->name);
    free(party);
}

static void quit(struct party **list, struct party *party) {
    if (party == NULL || --party->orders > 0)
        return;
    // The next order may come before the host has read what the last one moved, so its number can be too
    // large.
    if (party->is_limited && party->left < party->granted)
        return;
    drop(list, party);
}

bool places_join(struct transfer *transfer, const char *bundle, const char *server) {
    transfer->bundle = join(&bundles, bundle);
    transfer->server = join(&servers, server);
    return transfer->bundle != NULL && transfer->server != NULL;
}

void places_quit(struct transfer *transfer) {
    places_leave(transfer);
    quit(&bundles, transfer->bundle);
    quit(&servers, transfer->server);
    transfer->bundle = transfer->server = NULL;
}

void places_take(struct transfer *transfer) {
    if (transfer->holds_place)
        return;
    transfer->holds_place = true;
    active++;
    transfer->bundle->active++;
    transfer->server->active++;
}

void places_leave(struct transfer *transfer) {
    if (!transfer->holds_place)
        return;
    transfer->holds_place = false;
    active--;
    transfer->bundle->active--;
    transfer->server->active--;
}

static bool may_begin(const struct transfer *transfer) {
    return transfer->is_reserved && transfer->server->active < PLACES_PER_SERVER;
}

struct transfer *places_next(struct transfer *transfers) {
    struct transfer *next = NULL;
    unsigned whole = 0;
    if (active >= PLACES)
        return NULL;
    for (struct transfer *one = transfers; one != NULL; one = one->next) {
        whole += !one->is_reserved && !one->holds_place;
        if (may_begin(one) && (next == NULL || one->bundle->active < next->bundle->active ||
                               (one->bundle->active == next->bundle->active && one->id < next->id)))
            next = one;
    }
    if (next == NULL || whole >= WHOLE_MAX)
        return NULL;
    const struct party *bundle = next->bundle;
    for (struct transfer *one = transfers; one != NULL; one = one->next)
        if (one->bundle == bundle && may_begin(one) &&
            (one->rank > next->rank || (one->rank == next->rank && one->id < next->id)))
            next = one;
    return next;
}

struct party *places_allow(const char *name, int64_t left) {
    struct party *party = bundles;
    while (party != NULL && strcmp(party->name, name) != 0)
        party = party->next;
    if (party == NULL)
        return NULL;
    party->is_limited = left >= 0;
    party->left = party->granted = left;
    if (party->orders > 0 || party->is_limited)
        return party;
    drop(&bundles, party);
    return NULL;
}
