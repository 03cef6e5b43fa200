/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked into a second product of the app: a library that starts a thread while it is loaded can't be cloned,
 * so the launcher loads it afresh for each launch. The benchmarks compare the memory of both.
 */
#include <pthread.h>
#include <unistd.h>

static void *wait_forever(void *context) {
    (void)context;
    for (;;)
        pause();
    return NULL;
}

__attribute__((constructor)) static void at_load(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_forever, NULL);
}
