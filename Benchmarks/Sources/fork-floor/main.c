/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's own cost of a process. `fork-floor COUNT` prints COUNT samples of each of two kinds,
 * alternately, one on each line, in nanoseconds: "fork" is a bare fork, _exit and wait; "spawn" is a
 * posix_spawn of this program, which ends at once, and wait.
 */
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(int count, char **arguments) {
    if (count < 2)
        return 0; /* the spawned child ends here */
    for (long i = atol(arguments[1]); i > 0; i--) {
        int64_t start = now();
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        if (child < 0 || waitpid(child, NULL, 0) != child)
            return 1;
        printf("fork %lld\n", (long long)(now() - start));
        char *alone[] = {arguments[0], NULL};
        start = now();
        if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, alone, environ) != 0)
            return 1;
        if (waitpid(child, NULL, 0) != child)
            return 1;
        printf("spawn %lld\n", (long long)(now() - start));
    }
    return 0;
}
