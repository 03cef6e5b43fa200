/* A constructor starts a process that starts another one and ends. The last one uses 300 ms of CPU time, for
 * which the constructor waits. */
#include "fixture.h"

#include <time.h>
#include <unistd.h>

__attribute__((constructor)) static void at_load(void) {
    int end[2];
    char byte;
    if (pipe(end) != 0)
        return;
    if (fork() == 0) {
        if (fork() == 0) {
            for (clock_t until = clock() + 300 * (CLOCKS_PER_SEC / 1000); clock() < until;)
                continue;
        }
        _exit(0);
    }
    close(end[1]);
    (void)!read(end[0], &byte, 1); // the end of the pipe is the end of both
    close(end[0]);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    host->complete(task, 1, NULL);
}
