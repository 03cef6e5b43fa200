/* Starts a process whose first thread ends while a second one goes on. With the label "stays", it completes
 * with the number of that process; with "takes", the process takes memory until it is ended. */
#include "fixture.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool takes;

static void *go_on(void *unused) {
    enum { PIECES = 512, PIECE = 1 << 20 };
    for (int i = 0; takes && i < PIECES; i++) {
        char *memory = malloc(PIECE);
        if (memory != NULL)
            memset(memory, 1, PIECE);
    }
    // Without a limit, the test must end, too.
    sleep(60);
    _exit(0);
    return unused;
}

static void run(bgtask_task *task, const bgtask_host *host) {
    takes = strstr(host->launch(task)->identifier, "takes") != NULL;
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, go_on, NULL) != 0)
            _exit(1);
        pthread_exit(NULL);
    }
    char number[32];
    snprintf(number, sizeof number, "%d", (int)child);
    if (takes)
        sleep(60);
    host->complete(task, 1, number);
}
