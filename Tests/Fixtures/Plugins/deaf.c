/* Has no expiration handler. */
#include "fixture.h"

#include <unistd.h>

static void run(bgtask_task *task, const bgtask_host *host) {
    host->log(task, BGTASK_LOG_INFO, "waiting");
    for (;;)
        pause();
}
