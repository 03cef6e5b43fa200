/* Control groups: that of a launch, by the descriptor of its directory, and others by their paths. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static ssize_t read_file(int group, const char *name, char *text, size_t size) {
    int file = openat(group, name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t length = read(file, text, size - 1);
    close(file);
    text[length > 0 ? length : 0] = 0;
    return length;
}

bool group_write(const struct launch *launch, const char *name, const char *text) {
    int file = openat(launch->group, name, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool done = write(file, text, strlen(text)) == (ssize_t)strlen(text);
    int code = errno;
    close(file);
    errno = code;
    return done;
}

/* Opens the list of the processes in a group. */
static FILE *open_list(int directory) {
    int file = openat(directory, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    FILE *list = file < 0 ? NULL : fdopen(file, "r");
    if (file >= 0 && list == NULL)
        close(file);
    return list;
}

/* Kills each process in the list of a group by itself. The kernel's own kill signals only first threads, and
 * so misses a process whose first thread has ended while others go on. */
static void kill_listed(int directory) {
    FILE *list = open_list(directory);
    int pid;
    while (list != NULL && fscanf(list, "%d", &pid) == 1)
        if (pid > 1)
            kill(pid, SIGKILL);
    if (list != NULL)
        fclose(list);
}

void group_kill_processes(const struct launch *launch) {
    if (launch->group < 0)
        return;
    group_write(launch, "cgroup.kill", "1");
    kill_listed(launch->group);
}

void group_kill(const char *path) {
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // A group that does not exist any more contains no processes.
    if (directory < 0)
        return;
    int file = openat(directory, "cgroup.kill", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        ssize_t ignored = write(file, "1", 1);
        (void)ignored;
        close(file);
    }
    kill_listed(directory);
    close(directory);
}

bool group_is_populated(const char *path) {
    char text[256];
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = directory >= 0 && read_file(directory, "cgroup.events", text, sizeof(text)) >= 0;
    if (directory >= 0)
        close(directory);
    return done && strstr(text, "populated 1") != NULL;
}

bool group_contains(int directory, pid_t pid) {
    FILE *list = open_list(directory);
    int found = 0;
    while (list != NULL && found != pid && fscanf(list, "%d", &found) == 1)
        continue;
    if (list != NULL)
        fclose(list);
    return found == pid;
}

bool group_has_unknown(const struct launcher *launcher, const char *path) {
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return false;
    FILE *list = open_list(directory);
    close(directory);
    bool found = false;
    int pid;
    while (list != NULL && !found && fscanf(list, "%d", &pid) == 1)
        found = pid > 1 && !launches_own(launcher, pid);
    if (list != NULL)
        fclose(list);
    return found;
}

/* A group that does not exist any more counts as empty, because a group with processes cannot be removed. */
bool group_is_empty(const struct launch *launch) {
    char text[256];
    if (launch->group < 0 || read_file(launch->group, "cgroup.events", text, sizeof(text)) < 0)
        return true;
    return strstr(text, "populated 0") != NULL;
}

/* Counts only the processes in the first 64 KiB of the list, because the exact number of so many does not
 * matter. */
uint64_t group_count(const struct launch *launch) {
    static char text[65536];
    uint64_t count = 0;
    if (launch->group < 0 || read_file(launch->group, "cgroup.procs", text, sizeof(text)) < 0)
        return 0;
    for (const char *at = text; *at != 0; at++)
        count += *at == '\n';
    return count;
}
