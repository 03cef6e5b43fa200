/* Control groups: that of a launch, by the descriptor of its directory, and others by their paths. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static ssize_t read_file(const struct launch *launch, const char *name, char *text, size_t size) {
    int file = openat(launch->group, name, O_RDONLY | O_CLOEXEC);
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

void group_kill(const char *path) {
    char file_path[4096];
    snprintf(file_path, sizeof(file_path), "%s/cgroup.kill", path);
    int file = open(file_path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    // This fails only if the group does not exist any more; then it contains no processes.
    ssize_t ignored = write(file, "1", 1);
    (void)ignored;
    close(file);
}

/* A group that does not exist any more counts as empty, because a group with processes cannot be removed. */
bool group_is_empty(const struct launch *launch) {
    char text[256];
    if (launch->group < 0 || read_file(launch, "cgroup.events", text, sizeof(text)) < 0)
        return true;
    return strstr(text, "populated 0") != NULL;
}

/* Counts only the processes in the first 64 KiB of the list, because the exact number of so many does not
 * matter. */
uint64_t group_count(const struct launch *launch) {
    static char text[65536];
    uint64_t count = 0;
    if (launch->group < 0 || read_file(launch, "cgroup.procs", text, sizeof(text)) < 0)
        return 0;
    for (const char *at = text; *at != 0; at++)
        count += *at == '\n';
    return count;
}
