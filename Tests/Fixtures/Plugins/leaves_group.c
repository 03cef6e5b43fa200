/* Starts a child that holds the FIFO "alive" open and moves itself to the root of the cgroup file system.
 * With the environment variable STAYS, the task then waits. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int move_to_root(void) {
    const char *const roots[] = {"/sys/fs/cgroup/unified/cgroup.procs", "/sys/fs/cgroup/cgroup.procs"};
    for (int i = 0; i < 2; i++) {
        int file = open(roots[i], O_WRONLY);
        if (file >= 0 && write(file, "0", 1) == 1)
            return 0;
    }
    return errno;
}

static void run(bgtask_task *task, const bgtask_host *host) {
    int alive = open("alive", O_WRONLY | O_NONBLOCK), said[2];
    if (pipe(said) != 0)
        return;
    if (fork() == 0) {
        setsid();
        char code = (char)move_to_root();
        if (write(said[1], &code, 1) == 1)
            for (;;)
                pause();
    }
    close(alive);
    char code = 0;
    if (read(said[0], &code, 1) == 1 && code != 0) {
        host->complete(task, 0, strerror(code));
        return;
    }
    while (getenv("STAYS") != NULL)
        pause();
    host->complete(task, 1, NULL);
}
