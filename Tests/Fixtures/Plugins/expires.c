/* Completes from its expiration handler, and prints the reason that it received. */
#include "fixture.h"

#include <poll.h>

static void expire(bgtask_task *task, const bgtask_expiration *expiration, void *context) {
    const bgtask_host *host = context;
    host->complete(task, 0, expiration->reason);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    host->set_expiration_handler(task, expire, (void *)host);
    host->log(task, BGTASK_LOG_INFO, "waiting");
    struct pollfd expired = {.fd = host->expiration_descriptor(task), .events = POLLIN};
    while (poll(&expired, 1, -1) != 1 || !host->expired(task, NULL))
        continue;
}
