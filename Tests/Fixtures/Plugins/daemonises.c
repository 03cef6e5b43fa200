/* Forks twice, leaves the session, and completes; the daemon holds stdout open. */
#include "fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(bgtask_task *task, const bgtask_host *host) {
    pid_t child = fork();
    if (child < 0) {
        host->complete(task, 0, strerror(errno));
        return;
    }
    if (child == 0) {
        setsid();
        if (fork() == 0) {
            setsid();
            for (;;)
                pause();
        }
        _exit(0);
    }
    waitpid(child, NULL, 0);
    host->complete(task, 1, NULL);
}
