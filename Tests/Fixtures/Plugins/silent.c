/* Returns without completing. */
#include "fixture.h"

static void run(bgtask_task *task, const bgtask_host *host) {
    host->progress(task, 1, 4, NULL);
    host->progress(task, 2, 4, NULL);
}
