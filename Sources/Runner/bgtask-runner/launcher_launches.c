/* The launcher's side of launches: spawning, killing, reaping, and the proof that nothing is left. */
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

struct launch *launches_find(struct launcher *launcher, uint64_t id) {
    struct launch *launch = launcher->launches;
    while (launch != NULL && launch->id != id)
        launch = launch->next;
    return launch;
}

static void close_if_open(int *descriptor) {
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

static void forget(struct launcher *launcher, struct launch *launch) {
    for (struct launch **link = &launcher->launches; *link != NULL; link = &(*link)->next)
        if (*link == launch) {
            *link = launch->next;
            break;
        }
    close_if_open(&launch->pidfd);
    close_if_open(&launch->group);
    close_if_open(&launch->status_pipe);
    for (int i = 0; i < 4; i++)
        close_if_open(&launch->host_ends[i]);
    free(launch);
}

/* MARK: Groups */

static ssize_t read_group_file(const struct launch *launch, const char *name, char *text, size_t size) {
    int file = openat(launch->group, name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t length = read(file, text, size - 1);
    close(file);
    text[length > 0 ? length : 0] = 0;
    return length;
}

static bool write_group_file(const struct launch *launch, const char *name, const char *text) {
    int file = openat(launch->group, name, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool done = write(file, text, strlen(text)) == (ssize_t)strlen(text);
    int code = errno;
    close(file);
    errno = code;
    return done;
}

/* A group that is gone counts as empty: it can't be removed while a process is in it. */
static bool group_is_empty(const struct launch *launch) {
    char text[256];
    if (launch->group < 0 || read_group_file(launch, "cgroup.events", text, sizeof(text)) < 0)
        return true;
    return strstr(text, "populated 0") != NULL;
}

/* Processes in the group now; the first 64 KiB of them, which is enough to say "many". */
static uint64_t group_count(const struct launch *launch) {
    static char text[65536];
    uint64_t count = 0;
    if (launch->group < 0 || read_group_file(launch, "cgroup.procs", text, sizeof(text)) < 0)
        return 0;
    for (const char *at = text; *at != 0; at++)
        count += *at == '\n';
    return count;
}

/* MARK: Spawning */

/* The ends of a launch's pipes that the task gets, and what else goes with them. */
struct task_ends {
    int descriptors[CLONE_DESCRIPTORS_MAX];
    int count;
};

static void close_ends(struct task_ends *ends) {
    for (int i = 0; i < ends->count; i++)
        if (ends->descriptors[i] >= 0)
            close(ends->descriptors[i]);
    ends->count = 0;
}

/* Makes the four pipes and, for a namespace, the status pipe. */
static bool make_pipes(struct launch *launch, struct task_ends *ends, int *status_end) {
    for (int i = 0; i < 4; i++) {
        int pipe[2];
        if (pipe2(pipe, O_CLOEXEC) != 0)
            return false;
        // The first, control, is read by the task; the others it writes.
        ends->descriptors[ends->count++] = i == CLONE_CONTROL ? pipe[0] : pipe[1];
        launch->host_ends[i] = i == CLONE_CONTROL ? pipe[1] : pipe[0];
    }
    if (launch->isolation != ISOLATION_PID_NAMESPACE)
        return true;
    int pipe[2];
    if (pipe2(pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    *status_end = pipe[1];
    launch->status_pipe = pipe[0];
    return true;
}

/* Opens the group and sets its memory limit where the kernel lets us (the memory controller may not be delegated;
 * the host knows and says so). */
static bool open_group(struct launch *launch, struct body body, char *finding, size_t size) {
    char *path = body_text(body, 3);
    if (path == NULL) {
        snprintf(finding, size, "isolation by cgroup needs a cgroup, and the spawn message names none");
        return launch->isolation != ISOLATION_CGROUP;
    }
    launch->group = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (launch->group < 0)
        snprintf(finding, size, "open(%.300s): %s (%d)", path, strerror(errno), errno);
    free(path);
    uint64_t limit = body_number(body, 6, 0);
    if (launch->group >= 0 && limit > 0) {
        char text[24];
        snprintf(text, sizeof(text), "%llu", (unsigned long long)limit);
        if (!write_group_file(launch, "memory.max", text) && errno != ENOENT && errno != EACCES) {
            snprintf(finding, size, "write(memory.max): %s (%d)", strerror(errno), errno);
            return false;
        }
    }
    return launch->group >= 0;
}

/* The new process of a fresh launch, on its way to being a task. */
static _Noreturn void become_task(const struct template *template, const struct task_ends *ends,
                                  int status_end, bool subprocesses, int64_t since) {
    char finding[512];
    int report = ends->descriptors[CLONE_REPORT];
    if (status_end >= 0 && !process_become_init(status_end, geteuid() != 0)) {
        snprintf(finding, sizeof(finding), "the PID namespace's init: %s (%d)", strerror(errno), errno);
        task_refuse(report, finding);
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int places[] = {null, ends->descriptors[CLONE_STDOUT], ends->descriptors[CLONE_STDERR],
                    ends->descriptors[CLONE_CONTROL], report};
    if (null < 0 || !isolation_arrange_descriptors(places, 5)) {
        snprintf(finding, sizeof(finding), "the task's descriptors: %s (%d)", strerror(errno), errno);
        task_refuse(report, finding);
    }
    if (!isolation_enter_template(&template->settings, finding, sizeof(finding)))
        task_refuse(TASK_REPORT, finding);
    fcntl(TASK_CONTROL, F_SETFD, 0); // set again by the task
    fcntl(TASK_REPORT, F_SETFD, 0);
    char since_text[24];
    snprintf(since_text, sizeof(since_text), "%lld", (long long)since);
    char *arguments[] = {"bgtask-runner",   "task",
                         since_text,        subprocesses ? "subprocesses" : "noSubprocesses",
                         template->library, NULL};
    execve("/proc/self/exe", arguments, template->environment);
    snprintf(finding, sizeof(finding), "execve of the runner: %s (%d)", strerror(errno), errno);
    task_refuse(TASK_REPORT, finding);
}

/* Makes the task, here or in its template. False with a sentence. */
static bool make_task(struct launcher *launcher, struct launch *launch, struct template *template,
                      struct task_ends *ends, int status_end, bool fresh, bool subprocesses, char *finding,
                      size_t size) {
    if (fresh || !template->cloneable) {
        int64_t since = now_nanoseconds();
        int pidfd;
        pid_t pid = process_clone(status_end >= 0 ? process_namespace_flags() : 0, launch->group, &pidfd);
        if (pid == 0)
            become_task(template, ends, status_end, subprocesses, since);
        if (pid < 0) {
            snprintf(finding, size, "clone3 of a task: %s (%d)", strerror(errno), errno);
            return false;
        }
        launches_cloned(launcher, launch, pid, pidfd, NULL);
        return true;
    }
    int descriptors[CLONE_DESCRIPTORS_MAX], count = 0;
    for (int i = 0; i < CLONE_OTHERS; i++)
        descriptors[count++] = ends->descriptors[i];
    if (launch->group >= 0)
        descriptors[count++] = launch->group;
    if (status_end >= 0)
        descriptors[count++] = status_end;
    if (!templates_ask(template, launch->id, subprocesses, descriptors, count)) {
        snprintf(finding, size, "the template does not take the request: %s (%d)", strerror(errno), errno);
        return false;
    }
    launch->awaits_clone = true;
    return true;
}

void launches_spawn(struct launcher *launcher, struct body body) {
    uint64_t id = body_number(body, 1, 0);
    bool subprocesses = body_number(body, 4, 0) != 0, fresh = body_number(body, 5, 0) != 0;
    struct template *template = templates_find(launcher, body_number(body, 2, 0));
    const char *refusal = NULL;
    if (launches_find(launcher, id) != NULL)
        refusal = "a launch of this number is running";
    else if (template == NULL || template->retired)
        refusal = "there is no such template, or it has been retired or has failed";
    else if (!fresh && !template->answered)
        refusal = "the template is not ready yet; wait for it, or ask for a fresh process";
    else if (template->isolation == ISOLATION_NO_FORK && subprocesses)
        refusal = "subprocesses need a cgroup or a PID namespace to be killed by; this host has neither";
    struct launch *launch = refusal == NULL ? calloc(1, sizeof(*launch)) : NULL;
    if (launch == NULL) {
        launcher_report(launcher, MESSAGE_SPAWN_FAILED, id, refusal != NULL ? refusal : "no memory");
        return;
    }
    *launch = (struct launch){.next = launcher->launches,
                              .id = id,
                              .template_id = template->id,
                              .isolation = template->isolation,
                              .pidfd = -1,
                              .group = -1,
                              .status_pipe = -1,
                              .host_ends = {-1, -1, -1, -1}};
    launcher->launches = launch;

    char finding[512];
    struct task_ends ends = {.count = 0};
    int status_end = -1;
    bool done = false;
    if (!open_group(launch, body, finding, sizeof(finding)))
        done = false;
    else if (!make_pipes(launch, &ends, &status_end))
        snprintf(finding, sizeof(finding), "pipe2: %s (%d)", strerror(errno), errno);
    else
        done = make_task(launcher, launch, template, &ends, status_end, fresh, subprocesses, finding,
                         sizeof(finding));
    close_ends(&ends);
    close_if_open(&status_end);
    if (!done) {
        launcher_report(launcher, MESSAGE_SPAWN_FAILED, id, finding);
        forget(launcher, launch);
    }
}

void launches_cloned(struct launcher *launcher, struct launch *launch, pid_t pid, int pidfd,
                     const char *finding) {
    launch->awaits_clone = false;
    if (pid == 0) {
        if (launch->group >= 0)
            write_group_file(launch, "cgroup.kill", "1");
        launcher_report(launcher, MESSAGE_SPAWN_FAILED, launch->id, finding);
        forget(launcher, launch);
        return;
    }
    launch->pid = pid;
    launch->pidfd = pidfd;
    int descriptors[OUTBOX_DESCRIPTORS] = {fcntl(pidfd, F_DUPFD_CLOEXEC, 0)};
    for (int i = 0; i < 4; i++) {
        descriptors[i + 1] = launch->host_ends[i];
        launch->host_ends[i] = -1;
    }
    frame_begin(&launcher->writer, MESSAGE_SPAWNED);
    frame_add_number(&launcher->writer, 1, launch->id);
    frame_add_number(&launcher->writer, 2, (uint64_t)pid);
    outbox_send(&launcher->outbox, &launcher->writer, descriptors, OUTBOX_DESCRIPTORS);
    if (launch->killed)
        launches_kill(launch);
}

/* MARK: Ending */

void launches_kill(struct launch *launch) {
    if (!launch->killed)
        launch->kill_time = now_nanoseconds();
    launch->killed = true;
    if (launch->group >= 0)
        write_group_file(launch, "cgroup.kill", "1");
    if (launch->pidfd >= 0)
        syscall(SYS_pidfd_send_signal, launch->pidfd, SIGKILL, NULL, 0);
}

/* The task has been reaped: reads the true status, kills and counts what it left. */
static void task_ended(struct launch *launch) {
    launch->reaped = true;
    close_if_open(&launch->pidfd);
    struct namespace_status report;
    if (launch->status_pipe >= 0 &&
        read(launch->status_pipe, &report, sizeof(report)) == (ssize_t)sizeof(report)) {
        launch->wait_status = report.wait_status;
        launch->leftovers = report.leftovers;
    }
    if (launch->group < 0 || group_is_empty(launch))
        return;
    // What we killed together with the task did not outlive it.
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

void launches_reap(struct launcher *launcher) {
    for (struct launch *launch = launcher->launches, *next; launch != NULL; launch = next) {
        next = launch->next;
        if (launch->pid > 0 && !launch->reaped &&
            wait4(launch->pid, &launch->wait_status, WNOHANG, &launch->usage) == launch->pid)
            task_ended(launch);
        if (launch->reaped && group_is_empty(launch)) {
            send_exited(launcher, launch);
            forget(launcher, launch);
        } else if (launch->killed && !launch->told_unkillable &&
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
            wanted = launch->told_unkillable ? 1000 : 5; // a group tells nobody but who looks
        else if (launch->killed && !launch->told_unkillable)
            wanted =
                (int)((UNKILLABLE_AFTER_NANOSECONDS - (now_nanoseconds() - launch->kill_time)) / 1000000) + 1;
        if (wanted >= 0 && (timeout < 0 || wanted < timeout))
            timeout = wanted < 1 ? 1 : wanted;
    }
    return timeout;
}

/* MARK: Orphans */

static bool is_ours(const struct launcher *launcher, pid_t pid) {
    for (const struct launch *launch = launcher->launches; launch != NULL; launch = launch->next)
        if (launch->pid == pid && !launch->reaped)
            return true;
    for (const struct template *template = launcher->templates; template != NULL; template = template->next)
        if (template->pid == pid)
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
    // While an answer is on its way, an unknown child may be its task: its status must not be lost.
    while (!awaits_clones(launcher)) {
        siginfo_t ended = {0};
        if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0 ||
            is_ours(launcher, ended.si_pid))
            return; // ours are reaped by their own pid; the next SIGCHLD or pass comes back here
        waitpid(ended.si_pid, NULL, WNOHANG);
    }
}

void launches_kill_orphans(struct launcher *launcher) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
    FILE *children = fopen(path, "re");
    if (children == NULL)
        return; // a kernel without this file: the groups and the host's sweep still end them
    int pid;
    while (fscanf(children, "%d", &pid) == 1)
        if (!is_ours(launcher, pid))
            kill(pid,
                 SIGKILL); // our own child, not reaped by anyone else: the number can't have changed hands
    fclose(children);
}
