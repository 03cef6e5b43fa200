/* Looks at templates while they wait for launches: code that a constructor left behind, such as a handler of
 * a timer's signal, could start processes that belong to no launch, use CPU time that no launch pays, or hold
 * memory of the kernel. */
#include "launcher.h"
#include "process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How often: our choice. Each look takes some 25 system calls for each template. */
#define LOOK_NANOSECONDS (10 * (int64_t)1000000000)

/* The CPU time that a standby may use, that a template may between two looks, and in addition for each clone:
 * our choice, ten times what a clone of a Foundation plugin was seen to take. */
#define FREE_NANOSECONDS (500 * (int64_t)1000000)
#define CLONE_NANOSECONDS (20 * (int64_t)1000000)

/* Whether tasks are cloned from this template. They are children of this process, so it has none of its
 * own. */
static bool is_watched(const struct template *template) {
    return template->pid > 0 && template->cloneable;
}

static bool has_child(const struct template *template) {
    char path[64], text[1];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", template->pid, template->pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool found = read(file, text, sizeof(text)) == 1;
    close(file);
    return found;
}

/* Whether the group with this path has a process that is no task, template, standby or guardian. */
static bool has_unknown(const struct launcher *launcher, const char *group) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/cgroup.procs", group);
    FILE *list = fopen(path, "re");
    bool found = false;
    int pid;
    while (list != NULL && !found && fscanf(list, "%d", &pid) == 1)
        found = pid > 1 && !launches_own(launcher, pid);
    if (list != NULL)
        fclose(list);
    return found;
}

/* Whether the group of a template or of its standby has a process that this process knows nothing about.
 * Without clone3, a new task is in the group of the template until it is moved to its own. */
static bool has_sibling(const struct launcher *launcher, const struct template *template) {
    const struct standby *standby = &template->standby;
    return (template->cgroup != NULL && (template->awaited == 0 || process_has_clone3()) &&
            has_unknown(launcher, template->cgroup)) ||
           (standby->state == STANDBY_WAITS && has_unknown(launcher, standby->cgroup));
}

/* Whether a template holds rules of Landlock. The runner makes some for each task, in the task; those that a
 * constructor makes in the template are memory of the kernel that nothing counts, and keep deleted files. */
static bool has_rules(const struct template *template) {
    char path[64], name[64];
    snprintf(path, sizeof(path), "/proc/%d/fd", template->pid);
    DIR *files = opendir(path);
    bool found = false;
    for (struct dirent *entry; !found && files != NULL && (entry = readdir(files)) != NULL;) {
        ssize_t length = readlinkat(dirfd(files), entry->d_name, name, sizeof(name) - 1);
        name[length > 0 ? length : 0] = 0;
        found = strstr(name, "landlock-ruleset") != NULL;
    }
    if (files != NULL)
        closedir(files);
    return found;
}

/* The CPU time of a process in nanoseconds; 0 if it has ended. */
static int64_t cpu_time(pid_t process) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return 0;
    return time.tv_sec * (int64_t)1000000000 + time.tv_nsec;
}

static bool is_busy(struct template *template) {
    // A standby has done all its work when it waits.
    if (template->standby.state == STANDBY_WAITS && cpu_time(template->standby.pid) > FREE_NANOSECONDS)
        return true;
    int64_t now = cpu_time(template->pid), before = template->cpu;
    int64_t limit = FREE_NANOSECONDS + template->asked * CLONE_NANOSECONDS;
    template->cpu = now;
    template->asked = 0;
    // The first look comes after the load, which may take long.
    return before > 0 && now - before > limit;
}

void templates_watch(struct launcher *launcher) {
    if (launcher->next_look > 0 && now_nanoseconds() < launcher->next_look)
        return;
    bool any = false;
    for (struct template *template = launcher->templates; template != NULL; template = template->next) {
        if (!is_watched(template))
            continue;
        any = true;
        template->is_busy = is_busy(template);
        template->has_child =
            launcher->next_look > 0 && (has_child(template) || has_sibling(launcher, template));
        template->has_rules = launcher->next_look > 0 && has_rules(template);
        if (!template->is_busy && !template->has_child && !template->has_rules)
            continue;
        templates_kill(template); // its group is killed when it is reaped
    }
    // A child of this process that no template has reported can come from one, too.
    launcher->look_for_strays = launcher->look_for_strays || (any && launcher->next_look > 0);
    if (launcher->next_look > 0)
        launches_kill_strays(launcher);
    launcher->next_look = any ? now_nanoseconds() + LOOK_NANOSECONDS : 0;
}

int templates_watch_timeout(const struct launcher *launcher) {
    if (launcher->next_look == 0)
        return -1;
    int64_t left = (launcher->next_look - now_nanoseconds()) / 1000000 + 1;
    return left < 1 ? 1 : (int)left;
}
