/* Tries to change files in its own temporary directory, in that of another launch (OTHER), and in its data
   directory. The message says what worked. With the label "expires", the expiration handler tries it; with
   THREAD, a thread that a constructor started. */
#include "fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char done[200];

static void note(int worked, const char *what) {
    if (worked)
        snprintf(done + strlen(done), sizeof done - strlen(done), "%s%s", done[0] == 0 ? "" : " ", what);
}

static int makes(const char *directory, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0)
        close(file);
    return file >= 0;
}

static void try_all(const char *own) {
    const char *other = getenv("OTHER");
    char path[4096], moved[4096];
    note(makes(own, "mine"), "own");
    note(makes(".", "mine"), "data");
    snprintf(path, sizeof path, "%s/mine", own);
    snprintf(moved, sizeof moved, "%s/below", own);
    mkdir(moved, 0700);
    strncat(moved, "/mine", 6);
    note(rename(path, moved) == 0, "move");
    note(makes(other, "made"), "make-in-other");
    snprintf(path, sizeof path, "%s/file", other);
    int file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    note(file >= 0, "change-other");
    snprintf(moved, sizeof moved, "%s/stolen", own);
    note(link(path, moved) == 0, "link-other");
    note(rename(path, moved) == 0, "move-other");
    note(unlink(path) == 0, "remove-other");
    note(chmod(path, 0) == 0 && truncate(path, 0) == 0, "truncate-other");
    note(open("/dev/null", O_WRONLY | O_CLOEXEC) >= 0, "null");
}

static void expire(bgtask_task *task, const bgtask_expiration *expiration, void *context) {
    const bgtask_host *host = context;
    (void)expiration;
    try_all(host->launch(task)->temporary_directory);
    host->complete(task, 1, done);
}

static sem_t may_try, has_tried;

static void *try_beside(void *context) {
    while (sem_wait(&may_try) != 0)
        continue;
    try_all(getenv("TMPDIR"));
    sem_post(&has_tried);
    return context;
}

__attribute__((constructor)) static void at_load(void) {
    pthread_t thread;
    sem_init(&may_try, 0, 0);
    sem_init(&has_tried, 0, 0);
    if (getenv("THREAD") != NULL)
        pthread_create(&thread, NULL, try_beside, NULL);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    const bgtask_launch *launch = host->launch(task);
    if (strcmp(strrchr(launch->identifier, '.') + 1, "expires") == 0) {
        host->set_expiration_handler(task, expire, (void *)host);
        host->log(task, BGTASK_LOG_INFO, "waiting");
        struct pollfd expired = {.fd = host->expiration_descriptor(task), .events = POLLIN};
        while (poll(&expired, 1, -1) != 1 || !host->expired(task, NULL))
            continue;
        return;
    }
    if (getenv("THREAD") == NULL) {
        try_all(launch->temporary_directory);
    } else {
        sem_post(&may_try);
        while (sem_wait(&has_tried) != 0)
            continue;
    }
    host->complete(task, 1, done);
}
