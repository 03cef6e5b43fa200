/* Completes while it holds an assertion, which keeps its process alive until a thread ends the assertion. */
#include "fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static bgtask_task *the_task;
static const bgtask_host *the_host;
static uint64_t assertion;

static void *end_later(void *context) {
    usleep(200000);
    puts("flushed");
    the_host->end_assertion(the_task, assertion);
    the_host->end_assertion(the_task, assertion);
    return context;
}

static void run(bgtask_task *task, const bgtask_host *host) {
    the_task = task;
    the_host = host;
    host->begin_assertion(task, "flush", &assertion);
    pthread_t thread;
    pthread_create(&thread, NULL, end_later, NULL);
    host->complete(task, 1, NULL);
}
