/* Has no expiration handler, and declares that it will never set one. */
#include "fixture.h"

#include <unistd.h>

static void run(bgtask_task *task, const bgtask_host *host) {
    host->set_expiration_handler(task, NULL, NULL);
    host->log(task, BGTASK_LOG_INFO, "waiting");
    for (;;)
        pause();
}
