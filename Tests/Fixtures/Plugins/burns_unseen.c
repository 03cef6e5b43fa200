/* Burns CPU time in children that a host can lose. The last label of the identifier says how: "ignored"
 * children are reaped by the kernel, because the task ignores SIGCHLD; a "moved" child has left the task's
 * cgroup. */
#include "fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void burn(clock_t milliseconds) {
    clock_t end = clock() + milliseconds * (CLOCKS_PER_SEC / 1000);
    while (clock() < end)
        continue;
}

static int move_to_root(void) {
    const char *const roots[] = {"/sys/fs/cgroup/unified/cgroup.procs", "/sys/fs/cgroup/cgroup.procs"};
    for (int i = 0; i < 2; i++) {
        int file = open(roots[i], O_WRONLY | O_CLOEXEC);
        if (file >= 0 && write(file, "0", 1) == 1)
            return 1;
    }
    return 0;
}

static void run(bgtask_task *task, const bgtask_host *host) {
    // The answer shows that the host has handled "ready", and begun to count.
    char why[64];
    bgtask_request request = {.struct_size = sizeof(request), .identifier = "com.example.next"};
    host->submit(task, &request, why, sizeof(why));
    int is_moved = strcmp(strrchr(host->launch(task)->identifier, '.') + 1, "moved") == 0, said[2];
    signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < (is_moved ? 1 : 10); i++) {
        if (pipe(said) != 0)
            return;
        if (fork() == 0) {
            if (is_moved && !move_to_root())
                _exit(1);
            burn(is_moved ? 60 : 100);
            _exit(write(said[1], "", 1) == 1 ? 0 : 1);
        }
        close(said[1]);
        char byte;
        if (read(said[0], &byte, 1) != 1) {
            host->complete(task, 0, "it could not burn");
            return;
        }
        // The end of the pipe is the end of the child.
        (void)!read(said[0], &byte, 1);
        close(said[0]);
    }
    host->complete(task, 1, NULL);
}
