/* Finds the launch that a thread belongs to. */
#include "launcher.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reads the process of a thread and the parent of that process. */
static bool read_family(pid_t thread, pid_t *process, pid_t *parent) {
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%d/status", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t length = read(file, text, sizeof(text) - 1);
    close(file);
    text[length > 0 ? length : 0] = 0;
    const char *group = strstr(text, "\nTgid:"), *up = strstr(text, "\nPPid:");
    return group != NULL && up != NULL && sscanf(group, "\nTgid: %d", process) == 1 &&
           sscanf(up, "\nPPid: %d", parent) == 1;
}

/* Finds the launch of a thread: that of its process, or of an ancestor, or of its group. NULL if there is
 * none, as for the constructors of a library. `*process` becomes the process. */
struct launch *owners_find(const struct launcher *launcher, pid_t thread, pid_t *process) {
    pid_t at = thread, parent = 0;
    for (int level = 0; level < 64 && at > 1; level++, at = parent) {
        pid_t group;
        if (!read_family(at, &group, &parent) || group == getpid())
            break;
        if (level == 0)
            *process = group;
        for (struct launch *launch = launcher->launches; launch != NULL; launch = launch->next)
            if (launch->pid == group && !launch->reaped)
                return launch;
    }
    return launches_with_group_of(launcher, thread);
}
