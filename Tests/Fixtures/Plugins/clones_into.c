/* Starts processes in other groups than its own: in each group beside it, and in the one that contains them.
 * It reports "nothing", or the kinds of the groups that took a process: "template", "launch" or "parent". */
#include "fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The directory of this process's group; 0 if it can't be found. */
static int find_own(char *path, size_t size) {
    char line[2048];
    int found = 0;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "0::", 3) != 0)
            continue;
        snprintf(path, size, "/sys/fs/cgroup/unified%s", line + 3);
        if (access(path, F_OK) != 0)
            snprintf(path, size, "/sys/fs/cgroup%s", line + 3);
        found = 1;
    }
    if (file != NULL)
        fclose(file);
    return found;
}

/* Whether a process can be started in the group with this path. Landlock does not refuse O_PATH. */
static int takes(const char *path) {
    int group = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (group < 0)
        return 0;
    struct clone_args arguments = {
        .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)group};
    long child = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child == 0)
        _exit(0);
    close(group);
    return child > 0 && waitpid((pid_t)child, NULL, 0) == child;
}

static void run(bgtask_task *task, const bgtask_host *host) {
    char own[4096], parent[4096], path[8192], got[64] = "";
    if (!find_own(own, sizeof own) || strrchr(own, '/') == NULL) {
        host->complete(task, 0, "its own group can't be found");
        return;
    }
    snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(own, '/') - own), own);
    static const char *const kinds[] = {"template", "launch"};
    for (int kind = 0; kind < 2; kind++) {
        int taken = 0;
        for (int number = 1; number < 40; number++) {
            snprintf(path, sizeof path, "%s/%s-%d", parent, kinds[kind], number);
            taken |= strcmp(path, own) != 0 && takes(path);
        }
        if (taken)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", got[0] == 0 ? "" : " ",
                     kinds[kind]);
    }
    if (takes(parent))
        snprintf(got + strlen(got), sizeof got - strlen(got), "%sparent", got[0] == 0 ? "" : " ");
    host->complete(task, 1, got[0] == 0 ? "nothing" : got);
}
