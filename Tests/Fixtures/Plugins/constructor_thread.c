/* Starts a thread when it is loaded, so its process must not be cloned. */
#include "fixture.h"

#include <pthread.h>
#include <unistd.h>

static void *wait_for_ever(void *context) {
    for (;;)
        pause();
    return context;
}

__attribute__((constructor)) static void at_load(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_ever, NULL);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    host->complete(task, 1, NULL);
}
