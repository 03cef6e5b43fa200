/* The launcher's handling of standbys: tasks that are cloned and isolated before their launch is known. */
#include "launcher.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void standbys_forget(struct standby *standby) {
    close_descriptor(&standby->pidfd);
    close_descriptor(&standby->socket);
    free(standby->cgroup);
    *standby = (struct standby){.state = STANDBY_NONE, .pidfd = -1, .socket = -1};
}

void standbys_answer(struct launcher *launcher, uint64_t template, const char *finding) {
    frame_begin(&launcher->writer, MESSAGE_PREPARED);
    frame_add_number(&launcher->writer, 1, template);
    if (finding != NULL)
        frame_add_text(&launcher->writer, 2, finding, 4096);
    outbox_send(&launcher->outbox, &launcher->writer, NULL, 0);
}

void standbys_cloned(struct launcher *launcher, struct template *template, pid_t pid, int pidfd,
                     const char *finding) {
    struct standby *standby = &template->standby;
    if (standby->state != STANDBY_ASKED) {
        // The template is killed for this answer, and the host gets a report of its end.
        close_descriptor(&pidfd);
        return;
    }
    if (pid == 0) {
        standbys_forget(standby);
    } else {
        standby->state = STANDBY_WAITS;
        standby->pid = pid;
        standby->pidfd = pidfd;
        launcher->look_for_strays = true; // nothing else belongs into its group
    }
    standbys_answer(launcher, template->id, pid == 0 ? finding : NULL);
}

/* MARK: Using a standby */

bool standbys_take(struct launcher *launcher, struct launch *launch, struct template *template,
                   const char *cgroup, bool subprocesses, const int *pipes) {
    struct standby *standby = &template->standby;
    if (standby->state != STANDBY_WAITS || standby->subprocesses != subprocesses ||
        strcmp(standby->cgroup, cgroup) != 0)
        return false;
    struct standby_request request = {.since = now_nanoseconds()};
    bool taken = packet_send(standby->socket, &request, sizeof(request), pipes, CLONE_OTHERS, MSG_DONTWAIT);
    if (taken) {
        int pidfd = standby->pidfd;
        standby->pidfd = -1;
        launches_cloned(launcher, launch, standby->pid, pidfd, NULL, 0);
        standbys_forget(standby);
    } else {
        standbys_end(template); // the standby has died; a new task will use its group
    }
    return taken;
}

/* MARK: Ending a standby */

void standbys_end(struct template *template) {
    struct standby *standby = &template->standby;
    if (standby->pidfd >= 0)
        syscall(SYS_pidfd_send_signal, standby->pidfd, SIGKILL, NULL, 0);
    if (standby->state == STANDBY_ASKED) {
        group_kill(standby->cgroup); // the standby may exist, although the template's answer has not arrived
        template->has_abandoned = true;
    }
    standbys_forget(standby);
}

void standbys_reap(struct template *template) {
    struct standby *standby = &template->standby;
    if (standby->state == STANDBY_WAITS && waitpid(standby->pid, NULL, WNOHANG) == standby->pid)
        standbys_forget(standby);
}
