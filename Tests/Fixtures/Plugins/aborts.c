#include "fixture.h"

#include <stdlib.h>

static void run(bgtask_task *task, const bgtask_host *host) {
    (void)task;
    (void)host;
    abort();
}
