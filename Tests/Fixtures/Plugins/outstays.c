/* Completes, keeps an assertion, and then passes the limit that the last label of its task names: "memory",
 * "storage", "threads" or "cpu". With "outgrows", it passes its memory limit before it has completed, ignores
 * that it is asked to stop, and then takes more. */
#include "fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEBIBYTE = 1 << 20 };

static _Noreturn void hang(void) {
    for (;;)
        pause();
}

static void *wait_for_ever(void *context) {
    (void)context;
    hang();
}

static void take_memory(size_t size) {
    char *memory = malloc(size);
    if (memory != NULL)
        memset(memory, 1, size);
}

static void take_storage(void) {
    static char block[MEBIBYTE];
    int file = open("eaten", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    memset(block, 1, sizeof block);
    for (int i = 0; i < 4; i++)
        if (write(file, block, sizeof block) < 0)
            return;
}

static void take_threads(void) {
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < 200; i++)
        pthread_create(&thread, &small, wait_for_ever, NULL);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    const char *label = strrchr(host->launch(task)->identifier, '.') + 1;
    uint64_t assertion;
    (void)host->expiration_descriptor(task);
    if (strcmp(label, "outgrows") == 0) {
        take_memory((size_t)80 * MEBIBYTE);
        while (!host->expired(task, NULL))
            usleep(10000);
        take_memory((size_t)120 * MEBIBYTE);
        hang();
    }
    host->begin_assertion(task, "stays", &assertion);
    host->complete(task, 1, "done");
    if (strcmp(label, "memory") == 0)
        take_memory((size_t)100 * MEBIBYTE);
    if (strcmp(label, "storage") == 0)
        take_storage();
    if (strcmp(label, "threads") == 0)
        take_threads();
    while (strcmp(label, "cpu") == 0)
        continue;
    hang();
}
