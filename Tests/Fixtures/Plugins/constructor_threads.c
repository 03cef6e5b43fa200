/* Starts 200 threads when it is loaded, and does not return from its constructor. */
#include "fixture.h"

#include <pthread.h>
#include <unistd.h>

static void *wait_for_ever(void *context) {
    for (;;)
        pause();
    return context;
}

__attribute__((constructor)) static void at_load(void) {
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < 200; i++)
        pthread_create(&thread, &small, wait_for_ever, NULL);
    wait_for_ever(NULL);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    host->complete(task, 1, NULL);
}
