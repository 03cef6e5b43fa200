/* Leaves a daemon behind, logs its number, and waits. */
#include "fixture.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(bgtask_task *task, const bgtask_host *host) {
    int said[2];
    pid_t daemon = 0;
    if (pipe(said) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        daemon = fork();
        if (daemon == 0)
            for (;;)
                pause();
        _exit(write(said[1], &daemon, sizeof daemon) != sizeof daemon);
    }
    waitpid(child, NULL, 0);
    char text[32];
    if (read(said[0], &daemon, sizeof daemon) != sizeof daemon)
        return;
    snprintf(text, sizeof text, "%d", (int)daemon);
    host->log(task, BGTASK_LOG_INFO, text);
    for (;;)
        pause();
}
