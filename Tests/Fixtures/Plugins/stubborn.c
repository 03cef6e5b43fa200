/* Never ends: both its expiration handler and its run function hang. */
#include "fixture.h"

#include <signal.h>
#include <unistd.h>

static void expire(bgtask_task *task, const bgtask_expiration *expiration, void *context) {
    (void)task;
    (void)expiration;
    (void)context;
    for (;;)
        pause();
}

static void run(bgtask_task *task, const bgtask_host *host) {
    for (int number = 1; number < 32; number++)
        signal(number, SIG_IGN);
    host->set_expiration_handler(task, expire, NULL);
    host->log(task, BGTASK_LOG_INFO, "waiting");
    for (;;)
        pause();
}
