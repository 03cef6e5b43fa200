/* SPDX-License-Identifier: Apache-2.0
 *
 * This file is linked into a second product of the app. A process whose library starts a thread while it is
 * loaded cannot be cloned, so the launcher loads the library again for each launch. The benchmarks compare
 * the memory of both products.
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
