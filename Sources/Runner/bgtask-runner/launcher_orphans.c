/* Children of the launcher that belong to no launch and no template. They become its children when the
 * task that started them ends, because the launcher is a subreaper. */
#include "launcher.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_ours(const struct launcher *launcher, pid_t pid) {
    for (const struct launch *launch = launcher->launches; launch != NULL; launch = launch->next)
        if (launch->pid == pid && !launch->reaped)
            return true;
    for (const struct template *template = launcher->templates; template != NULL; template = template->next)
        if (template->pid == pid ||
            (template->standby.state == STANDBY_WAITS && template->standby.pid == pid))
            return true;
    return false;
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
            is_ours(launcher, ended.si_pid))
            return; // launches and templates reap their own children; the next SIGCHLD continues here
        waitpid(ended.si_pid, NULL, WNOHANG);
    }
}

void launches_kill_orphans(struct launcher *launcher) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
    FILE *children = fopen(path, "re");
    if (children == NULL)
        return; // an old kernel without this file; the orphans end with their groups
    int pid;
    while (fscanf(children, "%d", &pid) == 1)
        if (!is_ours(launcher, pid))
            kill(pid,
                 SIGKILL); // a child that only we can reap, so its number is not reused
    fclose(children);
}
