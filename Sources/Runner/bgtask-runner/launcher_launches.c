/* The launcher's handling of launches: recording the task of each, killing, reaping, and checking that no
 * process is left. */
#include "launcher.h"
#include "process.h"
#include "task.h"
#include "template.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often what is left of a launch is killed again, after its task has ended: our choice. */
#define KILL_AGAIN_NANOSECONDS (5 * (int64_t)1000000)

struct launch *launches_find(struct launcher *launcher, uint64_t id) {
    struct launch *launch = launcher->launches;
    while (launch != NULL && launch->id != id)
        launch = launch->next;
    return launch;
}

void close_descriptor(int *descriptor) {
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

void launches_forget(struct launcher *launcher, struct launch *launch) {
    for (struct launch **link = &launcher->launches; *link != NULL; link = &(*link)->next)
        if (*link == launch) {
            *link = launch->next;
            break;
        }
    close_descriptor(&launch->pidfd);
    close_descriptor(&launch->group);
    close_descriptor(&launch->status_pipe);
    for (int i = 0; i < 4; i++)
        close_descriptor(&launch->host_ends[i]);
    close_descriptor(&launch->counter);
    observed_drop(launch);
    free(launch);
}

/* MARK: Ending */

void launches_kill(struct launch *launch) {
    launch->last_kill = now_nanoseconds();
    if (!launch->killed)
        launch->kill_time = launch->last_kill;
    launch->killed = true;
    group_kill_processes(launch);
    if (launch->pidfd >= 0)
        syscall(SYS_pidfd_send_signal, launch->pidfd, SIGKILL, NULL, 0);
    else if (launch->pid > 0 && !launch->reaped)
        kill(launch->pid, SIGKILL); // not reaped yet, so its number is not used again
}

/* MARK: Beginning */

void launches_cloned(struct launcher *launcher, struct launch *launch, pid_t pid, int pidfd,
                     const char *finding, int code) {
    launch->awaits_clone = false;
    if (pid == 0) {
        group_kill_processes(launch);
        launcher_report(launcher, MESSAGE_SPAWN_FAILED, launch->id, finding, code);
        launches_forget(launcher, launch);
        return;
    }
    launch->pid = pid;
    launch->pidfd = pidfd;
    int descriptors[OUTBOX_DESCRIPTORS] = {fcntl(pidfd, F_DUPFD_CLOEXEC, 0)};
    if (descriptors[0] < 0) {
        // The host needs it to know of the end. The launcher can reach its own child by the number.
        descriptors[0] = pidfd;
        launch->pidfd = -1;
    }
    for (int i = 0; i < 4; i++) {
        descriptors[i + 1] = launch->host_ends[i];
        launch->host_ends[i] = -1;
    }
    int count = 5;
    if (launch->counter >= 0)
        descriptors[count++] = launch->counter;
    launch->counter = -1;
    frame_begin(&launcher->writer, MESSAGE_SPAWNED);
    frame_add_number(&launcher->writer, 1, launch->id);
    frame_add_number(&launcher->writer, 2, (uint64_t)pid);
    if (launch->given > 0)
        frame_add_number(&launcher->writer, 3, launch->given);
    if (count > 5)
        frame_add_flag(&launcher->writer, 4, true);
    outbox_send(&launcher->outbox, &launcher->writer, descriptors, count);
    if (launch->killed)
        launches_kill(launch);
}

/* MARK: Reaping */

/* Called after the task was reaped: reads its true wait status from a namespace, and kills and counts
 * remaining processes. */
static void task_ended(struct launch *launch) {
    launch->reaped = true;
    close_descriptor(&launch->pidfd);
    struct namespace_status report;
    if (launch->status_pipe >= 0 &&
        read(launch->status_pipe, &report, sizeof(report)) == (ssize_t)sizeof(report)) {
        launch->wait_status = report.wait_status;
        launch->leftovers = report.leftovers;
    }
    if (launch->group < 0 || group_is_empty(launch))
        return;
    // Processes that were killed together with the task did not outlive it.
    if (!launch->killed)
        launch->leftovers += group_count(launch);
    launches_kill(launch);
}

static uint64_t microseconds(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

static void send_exited(struct launcher *launcher, const struct launch *launch) {
    struct frame_writer *writer = &launcher->writer;
    frame_begin(writer, MESSAGE_EXITED);
    frame_add_number(writer, 1, launch->id);
    frame_add_number(writer, 2, (uint64_t)(uint32_t)launch->wait_status);
    frame_add_number(writer, 3, microseconds(launch->usage.ru_utime));
    frame_add_number(writer, 4, microseconds(launch->usage.ru_stime));
    frame_add_number(writer, 5, (uint64_t)launch->usage.ru_maxrss * 1024);
    frame_add_number(writer, 6, launch->leftovers);
    outbox_send(&launcher->outbox, writer, NULL, 0);
}

/* Whether the task may have made processes that are not in its group. A task without subprocesses can do that
 * if the code of its plugin has kept the filters from it, in the template that it was cloned from. */
static bool may_have_left(const struct launch *launch) {
    return launch->subprocesses || launch->isolation == ISOLATION_CGROUP;
}

void launches_reap(struct launcher *launcher) {
    for (struct launch *launch = launcher->launches, *next; launch != NULL; launch = next) {
        next = launch->next;
        if (launch->pid > 0 && !launch->reaped &&
            wait4(launch->pid, &launch->wait_status, WNOHANG, &launch->usage) == launch->pid) {
            task_ended(launch);
            launcher->look_for_strays |= may_have_left(launch);
        }
        if (launch->reaped && group_is_empty(launch)) {
            observed_send(launcher, launch);
            send_exited(launcher, launch);
            launcher->look_for_strays |= may_have_left(launch);
            launches_forget(launcher, launch);
            continue;
        }
        // A process that was created during the kill may be left.
        if (launch->reaped && now_nanoseconds() - launch->last_kill >= KILL_AGAIN_NANOSECONDS)
            launches_kill(launch);
        if (launch->killed && !launch->told_unkillable &&
            now_nanoseconds() - launch->kill_time >= UNKILLABLE_AFTER_NANOSECONDS) {
            launch->told_unkillable = true;
            frame_begin(&launcher->writer, MESSAGE_UNKILLABLE);
            frame_add_number(&launcher->writer, 1, launch->id);
            outbox_send(&launcher->outbox, &launcher->writer, NULL, 0);
        }
    }
}

int launches_timeout(const struct launcher *launcher) {
    int timeout = -1;
    for (const struct launch *launch = launcher->launches; launch != NULL; launch = launch->next) {
        int wanted = -1;
        if (launch->reaped)
            wanted =
                launch->told_unkillable
                    ? 1000
                    : KILL_AGAIN_NANOSECONDS / 1000000; // the kernel does not report that a group is empty
        else if (launch->killed && !launch->told_unkillable) {
            // If the time has already passed, use 1 ms, because poll waits without a limit if its timeout is
            // negative.
            int64_t left = UNKILLABLE_AFTER_NANOSECONDS - (now_nanoseconds() - launch->kill_time);
            wanted = left < 0 ? 1 : (int)(left / 1000000) + 1;
        }
        if (wanted >= 0 && (timeout < 0 || wanted < timeout))
            timeout = wanted < 1 ? 1 : wanted;
    }
    return timeout;
}
