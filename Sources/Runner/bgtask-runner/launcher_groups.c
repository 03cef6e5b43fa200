/* Control groups: that of a launch, by the descriptor of its directory, and others by their paths. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static ssize_t read_file(int group, const char *name, char *text, size_t size) {
    int file = openat(group, name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t length = read(file, text, size - 1);
    int code = errno;
    close(file);
    errno = code;
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

bool group_is(int group, const char *path, const char *membership) {
    char link[64], real[4096];
    if (group >= 0) {
        snprintf(link, sizeof(link), "/proc/self/fd/%d", group);
        ssize_t length = readlink(link, real, sizeof(real) - 1);
        real[length > 0 ? length : 0] = 0;
        path = real;
    }
    size_t length = path != NULL ? strlen(path) : 0, wanted = strlen(membership);
    return wanted > 1 && length >= wanted && strcmp(path + length - wanted, membership) == 0;
}

bool group_read(pid_t pid, char *membership, size_t size) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool found = false;
    while (!found && fgets(membership, (int)size, file) != NULL)
        found = strncmp(membership, "0::", 3) == 0;
    fclose(file);
    if (!found) {
        errno = ENODATA;
        return false;
    }
    size_t length = strcspn(membership, "\n");
    memmove(membership, membership + 3, length - 3);
    membership[length - 3] = 0;
    return true;
}

/* Kills a process from the list of a group, unless it has ended and another process has its number.
 *
 * The descriptor refers to the process that has the number now. If the group that is read afterwards was that
 * of another process, the first one had been reaped, and the signal reaches no process. So one read is enough
 * for
 * each process, and two descriptors for all. */
static void kill_member(int directory, pid_t pid) {
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    int code = errno;
    if (process < 0 && (code == ESRCH || code == EINVAL))
        return; // it has ended, or the number is that of a thread by now
    char membership[4096];
    if (group_read(pid, membership, sizeof(membership)) && group_is(directory, NULL, membership)) {
        if (process >= 0) {
            syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0);
        } else {
            // The filter of a container can refuse it, or no descriptor is free. The number was that of a
            // process of this group a moment ago.
            kill(pid, SIGKILL);
        }
    }
    if (process >= 0)
        close(process);
}

/* Kills each process in the list of a group by itself. The kernel's own kill signals only first threads, and
 * so misses a process whose first thread has ended while others go on. */
static void kill_listed(int directory) {
    FILE *list = open_list(directory);
    int pid;
    while (list != NULL && fscanf(list, "%d", &pid) == 1)
        if (pid > 1)
            kill_member(directory, pid);
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

/* Whether a group whose file could not be read does not exist any more. Otherwise, a descriptor was missing,
 * for example, and nothing is known about its processes. */
static bool is_gone(int code) {
    return code == ENOENT || code == ENODEV;
}

bool group_is_populated(const char *path) {
    char text[256];
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = directory >= 0 && read_file(directory, "cgroup.events", text, sizeof(text)) >= 0;
    int code = errno;
    if (directory >= 0)
        close(directory);
    return done ? strstr(text, "populated 1") != NULL : !is_gone(code);
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

/* A group that does not exist any more counts as empty, because a group with processes cannot be removed. */
bool group_is_empty(const struct launch *launch) {
    char text[256];
    if (launch->group < 0)
        return true;
    if (read_file(launch->group, "cgroup.events", text, sizeof(text)) < 0)
        return is_gone(errno);
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
