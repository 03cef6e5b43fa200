/* Starts 200 threads when it is loaded, and does not return from its constructor. */
#include "fixture.h"
#include "threads.h"

#include <unistd.h>

__attribute__((constructor)) static void at_load(void) {
    start_threads(200);
    wait_for_ever(NULL);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    host->complete(task, 1, NULL);
}
