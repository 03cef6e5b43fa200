/* SPDX-License-Identifier: Apache-2.0
 *
 * The C handler of the benchmarks. The last label but one of the identifier selects its work:
 *
 *   ....run.N         stamps and completes
 *   ....hold.N        stamps, waits until it expires, stamps again and completes
 *   ....progress.N    reports the time as its progress, 50 times, ten times a second
 *   ....forks.N       uses 800 ms of CPU time, most of it in children and in grandchildren without a parent
 */
#include <bgtask.h>

#include <semaphore.h>
#include <stdio.h>
#include <sys/wait.h>

#include "stamps.h"

static char stamps[4096];
static int64_t number;
static sem_t expired;

static void on_expiration(bgtask_task *task, const bgtask_expiration *expiration, void *context) {
    int64_t time = now();
    (void)task, (void)expiration, (void)context;
    append_stamp(stamps, (struct stamp){number, STAMP_EXPIRED, time});
    sem_post(&expired);
}

static void hold(void) {
    append_stamp(stamps, (struct stamp){number, STAMP_RUN, now()});
    while (sem_wait(&expired) != 0) {
    }
}

static void report(bgtask_task *task, const bgtask_host *host) {
    for (int i = 0; i < 50; i++) {
        nanosleep(&(struct timespec){0, 100000000}, NULL);
        host->progress(task, now(), INT64_MAX, NULL);
    }
}

/* Uses CPU time in this process. */
static void burn(int milliseconds) {
    struct timespec used;
    int64_t start = -1, time;
    do {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        time = (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
        if (start < 0)
            start = time;
    } while (time - start < milliseconds);
}

/* Uses 100 ms in this process, 200 ms in a child, 300 ms in an orphan and 200 ms in 20 children of another
 * orphan. */
static void fork_twice(void) {
    burn(100);
    pid_t child = fork();
    if (child == 0) {
        burn(200);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    int done[2];
    if (pipe(done) != 0)
        return;
    for (int i = 0; i < 2; i++) {
        child = fork();
        if (child == 0) {
            if (fork() == 0) {
                if (i == 0)
                    burn(300);
                for (int j = 0; i == 1 && j < 20; j++) {
                    pid_t last = fork();
                    if (last == 0) {
                        burn(10);
                        _exit(0);
                    }
                    waitpid(last, NULL, 0);
                }
            }
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    /* The orphans hold the other end of the pipe until they end. */
    close(done[1]);
    char byte;
    while (read(done[0], &byte, 1) > 0) {
    }
}

static void run(bgtask_task *task, const bgtask_host *host) {
    int64_t time = now();
    const bgtask_launch *launch = host->launch(task);
    const char *last = strrchr(launch->identifier, '.');
    number = last ? atoll(last + 1) : 0;
    snprintf(stamps, sizeof stamps, "%s/stamps", launch->data_directory);
    /* Every handler should set one: the host logs advice about a launch without one, which would cost
     * time. */
    sem_init(&expired, 0, 0);
    host->set_expiration_handler(task, on_expiration, NULL);
    if (strstr(launch->identifier, ".hold.")) {
        hold();
    } else if (strstr(launch->identifier, ".progress.")) {
        report(task, host);
    } else if (strstr(launch->identifier, ".forks.")) {
        fork_twice();
    } else if (append_stamp(stamps, (struct stamp){number, STAMP_RUN, time}) != 0) {
        host->complete(task, 0, "The stamp could not be written");
        return;
    }
    host->complete(task, 1, NULL);
}

static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof plugin, run};

BGTASK_EXPORT const bgtask_plugin *bgtask_plugin_entry(void) {
    return &plugin;
}
