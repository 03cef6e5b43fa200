/* Children of the launcher that belong to no launch and no template. They become its children when the
 * task that started them ends, because the launcher is a subreaper. */
#include "launcher.h"
#include "process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

bool launches_own(const struct launcher *launcher, pid_t pid) {
    for (const struct launch *launch = launcher->launches; launch != NULL; launch = launch->next)
        if (launch->pid == pid && !launch->reaped)
            return true;
    for (const struct template *template = launcher->templates; template != NULL; template = template->next)
        if (template->pid == pid ||
            (template->standby.state == STANDBY_WAITS && template->standby.pid == pid))
            return true;
    return pid == launcher->guardian;
}

static bool awaits_clones(const struct launcher *launcher) {
    for (const struct template *template = launcher->templates; template != NULL; template = template->next)
        if (template->awaited > 0)
            return true;
    return false;
}

void launches_reap_orphans(struct launcher *launcher) {
    // While an answer is outstanding, an unknown child may be the new task, whose wait status must not be
    // lost.
    while (!awaits_clones(launcher)) {
        siginfo_t ended = {0};
        if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0 ||
            launches_own(launcher, ended.si_pid))
            return; // launches and templates reap their own children; the next SIGCHLD continues here
        waitpid(ended.si_pid, NULL, WNOHANG);
        launcher->look_for_strays = true; // its children, if any, are now ours
    }
}

/* MARK: Processes that left their group, or never had one */

struct launch *launches_with_group_of(struct launcher *launcher, pid_t pid) {
    char membership[4096];
    launcher->lookups++;
    if (!group_read(pid, membership, sizeof(membership)))
        return NULL;
    for (struct launch *launch = launcher->launches; launch != NULL; launch = launch->next) {
        launcher->lookups++;
        if (launch->group >= 0 && group_is(launch->group, NULL, membership))
            return launch;
    }
    return NULL;
}

/* Whether a process is in a group where a launch or a template may have others. While its library is loaded,
 * a template may have processes; they end with it. Later, only the code of its plugin makes any. True also if
 * this can't be found out, because the process has ended, or no descriptor is free; then `again` becomes
 * true. */
static bool is_in_known_group(const struct launcher *launcher, pid_t pid, bool *again) {
    char membership[4096];
    if (!group_read(pid, membership, sizeof(membership))) {
        *again |= is_shortage(errno);
        return true;
    }
    for (const struct launch *launch = launcher->launches; launch != NULL; launch = launch->next)
        if (launch->group >= 0 && group_is(launch->group, NULL, membership))
            return true;
    for (const struct template *template = launcher->templates; template != NULL; template = template->next)
        if (!template->answered && group_is(-1, template->cgroup, membership))
            return true;
    return false;
}

void launches_kill_strays(struct launcher *launcher) {
    // While an answer is outstanding, an unknown child may be the new task.
    if (!launcher->look_for_strays || awaits_clones(launcher))
        return;
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
    FILE *children = fopen(path, "re");
    // Without a free descriptor, the next call looks.
    launcher->look_for_strays = children == NULL && is_shortage(errno);
    if (children == NULL)
        return;
    int pid;
    while (fscanf(children, "%d", &pid) == 1)
        if (!launches_own(launcher, pid) && !is_in_known_group(launcher, pid, &launcher->look_for_strays))
            // Only this thread reaps it, so its number is not used again. Its children are found then.
            kill(pid, SIGKILL);
    fclose(children);
}

void launches_kill_orphans(struct launcher *launcher) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
    FILE *children = fopen(path, "re");
    if (children == NULL)
        return; // an old kernel without this file; the orphans end with their groups
    int pid;
    while (fscanf(children, "%d", &pid) == 1)
        if (!launches_own(launcher, pid))
            kill(pid,
                 SIGKILL); // a child that only we can reap, so its number is not reused
    fclose(children);
}
