/* Threads with small stacks that only wait, for fixtures that have too many of them. */
#ifndef THREADS_H
#define THREADS_H

#include <pthread.h>
#include <unistd.h>

static void *wait_for_ever(void *context) {
    for (;;)
        pause();
    return context;
}

static void start_threads(int count) {
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < count; i++)
        pthread_create(&thread, &small, wait_for_ever, NULL);
}

#endif
