/* The launcher's handling of *spawn*: it makes the pipes, opens the group, and clones the task itself or
 * in its template. */
#include "launcher.h"
#include "process.h"
#include "task.h"
#include "template.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The descriptors that the task gets: its ends of the launch's pipes. */
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

/* Makes the four pipes and, for a PID namespace, the status pipe. The user of a bundle owns the pipes for
 * output, so that programs can open /dev/stdout and /dev/stderr. */
static bool make_pipes(const struct sandbox *sandbox, struct launch *launch, struct task_ends *ends,
                       int *status_end) {
    for (int i = 0; i < 4; i++) {
        int pipe[2];
        if (pipe2(pipe, O_CLOEXEC) != 0)
            return false;
        // The task reads the first pipe, control, and writes the others.
        ends->descriptors[ends->count++] = i == CLONE_CONTROL ? pipe[0] : pipe[1];
        launch->host_ends[i] = i == CLONE_CONTROL ? pipe[1] : pipe[0];
        bool is_output = i == CLONE_STDOUT || i == CLONE_STDERR;
        if (sandbox_has_user(sandbox) && is_output && fchown(pipe[0], sandbox->user, sandbox->user) != 0)
            return false;
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

/* Writes the start of the control channel to its pipe, as much as fits, so that the task can read it
 * without waiting for the host. */
static void give_start(struct launch *launch, struct body body) {
    struct value start;
    int control = launch->host_ends[CLONE_CONTROL];
    if (!body_find(body, 7, &start) || fcntl(control, F_SETFL, O_NONBLOCK) != 0)
        return; // the host will send all of it
    ssize_t count = write(control, start.bytes, start.length);
    launch->given = count > 0 ? (uint64_t)count : 0;
}

/* Opens the launch's group and sets its memory limit. If the group has no memory controller, or the limit
 * may not be set, the launch continues without it; the host knows this. */
static bool open_group(struct launch *launch, struct body body, char *finding, size_t size) {
    char *path = body_text(body, 3);
    if (path == NULL) {
        snprintf(finding, size, "isolation by cgroup needs a cgroup, and the host named none");
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
        if (!group_write(launch, "memory.max", text) && errno != ENOENT && errno != EACCES) {
            snprintf(finding, size, "write(memory.max): %s (%d)", strerror(errno), errno);
            return false;
        }
    }
    return launch->group >= 0;
}

/* Turns the new process of a fresh launch into a task. */
static _Noreturn void become_task(const struct template *template, const struct task_ends *ends,
                                  int status_end, int listener_end, bool subprocesses, int64_t since) {
    char finding[512];
    int report = ends->descriptors[CLONE_REPORT];
    if (status_end >= 0 && !process_become_init(status_end, geteuid() != 0)) {
        int code = errno;
        snprintf(finding, sizeof(finding), "the first process of the PID namespace can't be set up: %s (%d)",
                 strerror(code), code);
        task_refuse_call(report, finding, code);
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), message = isolation_message(&template->settings);
    int places[] = {null,
                    ends->descriptors[CLONE_STDOUT],
                    ends->descriptors[CLONE_STDERR],
                    ends->descriptors[CLONE_CONTROL],
                    report,
                    message,
                    listener_end};
    if (null < 0 || message < 0 || !isolation_arrange_descriptors(places, 7)) {
        int code = errno;
        snprintf(finding, sizeof(finding), "the task's descriptors can't be set up: %s (%d)", strerror(code),
                 code);
        task_refuse_call(report, finding, code);
    }
    if (!isolation_enter_template(&template->settings, finding, sizeof(finding)))
        task_refuse(TASK_REPORT, finding);
    fcntl(TASK_CONTROL, F_SETFD, 0); // the task sets the flag again
    fcntl(TASK_REPORT, F_SETFD, 0);
    fcntl(TASK_MESSAGE, F_SETFD, 0);
    fcntl(TASK_LISTENER, F_SETFD, 0);
    char since_text[24];
    snprintf(since_text, sizeof(since_text), "%lld", (long long)since);
    char *arguments[] = {"bgtask-runner",   "task",
                         since_text,        subprocesses ? "subprocesses" : "noSubprocesses",
                         template->library, NULL};
    execve(template->executable, arguments, template->environment);
    snprintf(finding, sizeof(finding), "execve(%.300s): %s (%d)", template->executable, strerror(errno),
             errno);
    task_refuse(TASK_REPORT, finding);
}

/* Makes the task, by a clone in this process or in the template. On failure, returns false with a sentence
 * in `finding` and the error number in errno. */
static bool make_task(struct launcher *launcher, struct launch *launch, struct template *template,
                      struct task_ends *ends, int status_end, bool fresh, bool subprocesses, char *finding,
                      size_t size) {
    if (fresh || !template->cloneable) {
        int64_t since = now_nanoseconds();
        int pidfd, sockets[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
            snprintf(finding, size, "the task's process can't be created: socketpair: %s (%d)",
                     strerror(errno), errno);
            return false;
        }
        pid_t pid = process_clone(status_end >= 0 ? process_namespace_flags() : 0, launch->group, &pidfd);
        if (pid == 0) {
            counter_wait(launch, sockets);
            become_task(template, ends, status_end, sockets[1], subprocesses, since);
        }
        int code = errno;
        close(sockets[1]);
        errno = code;
        if (pid < 0) {
            snprintf(finding, size, "the task's process can't be created: clone3: %s (%d)", strerror(errno),
                     errno);
            close(sockets[0]);
            return false;
        }
        counter_open(launch, pid, sockets[0]);
        observers_add(launcher, template, launch->id, -1, sockets[0]);
        launches_cloned(launcher, launch, pid, pidfd, NULL, 0);
        return true;
    }
    int descriptors[CLONE_DESCRIPTORS_MAX], count = 0;
    for (int i = 0; i < CLONE_OTHERS; i++)
        descriptors[count++] = ends->descriptors[i];
    if (launch->group >= 0)
        descriptors[count++] = launch->group;
    if (status_end >= 0)
        descriptors[count++] = status_end;
    struct clone_request request = {
        .launch = launch->id,
        .subprocesses = subprocesses,
        .has_group = launch->group >= 0,
        .has_namespace = status_end >= 0,
    };
    if (!templates_ask(template, &request, descriptors, count)) {
        snprintf(finding, size, "the process that holds the plugin can't be asked for a task: %s (%d)",
                 strerror(errno), errno);
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
        refusal = "a launch with this number is running";
    else if (template == NULL || template->retired)
        refusal =
            "the process that held the plugin (its template) has ended, is being replaced or has failed";
    else if (!fresh && !template->answered)
        refusal = "the process that holds the plugin (its template) is not ready yet";
    else if (template->isolation == ISOLATION_NO_FORK && subprocesses)
        refusal = "a task that may start processes needs a cgroup or a PID namespace; this host has neither";
    struct launch *launch = refusal == NULL ? calloc(1, sizeof(*launch)) : NULL;
    if (launch == NULL) {
        launcher_report(launcher, MESSAGE_SPAWN_FAILED, id, refusal != NULL ? refusal : "no memory",
                        refusal != NULL ? 0 : ENOMEM);
        return;
    }
    *launch = (struct launch){.next = launcher->launches,
                              .id = id,
                              .template_id = template->id,
                              .isolation = template->isolation,
                              .subprocesses = subprocesses,
                              .pidfd = -1,
                              .group = -1,
                              .status_pipe = -1,
                              .host_ends = {-1, -1, -1, -1},
                              .counter = -1};
    launcher->launches = launch;

    char finding[512];
    struct task_ends ends = {.count = 0};
    int status_end = -1;
    bool done = false;
    errno = 0;
    if (!open_group(launch, body, finding, sizeof(finding)))
        done = false;
    else if (!make_pipes(&template->settings.sandbox, launch, &ends, &status_end))
        snprintf(finding, sizeof(finding), "pipe2 or fchown: %s (%d)", strerror(errno), errno);
    else {
        give_start(launch, body);
        char *cgroup = body_text(body, 3);
        done = (!fresh && cgroup != NULL &&
                standbys_take(launcher, launch, template, cgroup, subprocesses, ends.descriptors)) ||
               make_task(launcher, launch, template, &ends, status_end, fresh, subprocesses, finding,
                         sizeof(finding));
        free(cgroup);
    }
    int code = errno;
    close_ends(&ends);
    close_descriptor(&status_end);
    if (!done) {
        launcher_report(launcher, MESSAGE_SPAWN_FAILED, id, finding, code);
        launches_forget(launcher, launch);
    }
}
