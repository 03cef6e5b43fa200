/* Looks at templates while they wait for launches: code that a constructor left behind, such as a handler of
 * a timer's signal, could start processes that belong to no launch, or use CPU time that no launch pays. */
#include "launcher.h"
#include "process.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* How often: our choice. Each look takes five system calls for each template. */
#define LOOK_NANOSECONDS (10 * (int64_t)1000000000)

/* The CPU time that a template may use between two looks, and in addition for each clone: our choice, ten
 * times what a clone of a Foundation plugin was seen to take. */
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

static bool is_busy(struct template *template) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(template->pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return false;
    int64_t now = time.tv_sec * (int64_t)1000000000 + time.tv_nsec, before = template->cpu;
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
        template->has_child = launcher->next_look > 0 && has_child(template);
        if (!template->is_busy && !template->has_child)
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
