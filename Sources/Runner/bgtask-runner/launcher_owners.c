/* Finds the launch that a thread belongs to. */
#include "launcher.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How many processes are looked at from a thread upwards. */
enum { LEVELS = 64 };

/* Reads the beginning of a small file of /proc, and counts the read. */
static bool read_start(struct launcher *launcher, const char *path, char *text, size_t size) {
    launcher->lookups++;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t length = read(file, text, size - 1);
    close(file);
    text[length > 0 ? length : 0] = 0;
    return length > 0;
}

/* Reads when a thread began, in clock ticks since the start of the machine, and the parent of its process.
 * The file of the whole process would cost more the more threads it has. */
static bool read_birth(struct launcher *launcher, pid_t thread, uint64_t *start, pid_t *parent) {
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", thread, thread);
    if (!read_start(launcher, path, text, sizeof(text)))
        return false;
    const char *after_name = strrchr(text, ')'); // the name may have parentheses
    unsigned long long ticks;
    if (after_name == NULL ||
        sscanf(after_name,
               ") %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
               "%*s %llu",
               parent, &ticks) != 2)
        return false;
    *start = ticks;
    return true;
}

static bool read_process(struct launcher *launcher, pid_t thread, pid_t *process) {
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%d/status", thread);
    if (!read_start(launcher, path, text, sizeof(text)))
        return false;
    const char *group = strstr(text, "\nTgid:");
    return group != NULL && sscanf(group, "\nTgid: %d", process) == 1;
}

struct launch *owners_launch(const struct launcher *launcher, uint64_t id) {
    struct launch *launch = launcher->launches;
    while (launch != NULL && launch->id != id)
        launch = launch->next;
    return launch;
}

static struct launch *launch_of_task(const struct launcher *launcher, pid_t process) {
    struct launch *launch = launcher->launches;
    while (launch != NULL && (launch->pid != process || launch->reaped))
        launch = launch->next;
    return launch;
}

/* Where a thread is remembered; another thread may be there. */
static struct owner *place_of(struct launcher *launcher, pid_t thread) {
    return &launcher->owners[(unsigned)thread % OWNERS];
}

/* Finds the launch of a thread: that of its process, or of an ancestor, or of its group. NULL if there is
 * none, as for the constructors of a library. `*process` becomes the process.
 *
 * Each thread on the way is remembered. A number can be given again, but not with the same start. A process
 * does not change its launch, but one without a launch can get one, so that is not remembered. */
struct launch *owners_find(struct launcher *launcher, pid_t thread, pid_t *process) {
    struct owner way[LEVELS];
    int count = 0;
    struct launch *found = NULL;
    pid_t at = thread, parent = 0;
    for (int level = 0; found == NULL && level < LEVELS && at > 1; level++, at = parent) {
        uint64_t start;
        pid_t group = at; // a parent is always a process
        if (!read_birth(launcher, at, &start, &parent))
            break;
        const struct owner *known = place_of(launcher, at);
        bool is_known = known->thread == at && known->start == start;
        found = is_known ? owners_launch(launcher, known->launch) : NULL;
        if (found != NULL)
            group = known->process;
        else if (level == 0 && !read_process(launcher, at, &group))
            break;
        if (group == getpid())
            break;
        if (level == 0)
            *process = group;
        way[count++] = (struct owner){.thread = at, .process = group, .start = start};
        if (found == NULL)
            found = launch_of_task(launcher, group);
    }
    if (found == NULL)
        found = launches_with_group_of(launcher, thread);
    for (int i = 0; found != NULL && i < count; i++) {
        way[i].launch = found->id;
        *place_of(launcher, way[i].thread) = way[i];
    }
    return found;
}
