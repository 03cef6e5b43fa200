/* The launcher's handling of templates: starting, asking, retiring and reaping them. */
#include "launcher.h"
#include "process.h"
#include "template.h"

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

struct template *templates_find(struct launcher *launcher, uint64_t id) {
    struct template *template = launcher->templates;
    while (template != NULL && template->id != id)
        template = template->next;
    return template;
}

static void destroy(struct launcher *launcher, struct template *template) {
    observers_forget(launcher, template);
    standbys_end(template);
    if (template->socket >= 0)
        close(template->socket);
    close_descriptor(&template->status_pipe);
    for (char **entry = template->environment; entry != NULL && *entry != NULL; entry++)
        free(*entry);
    free(template->environment);
    free(template->library);
    free(template->cgroup);
    free(template->executable);
    free(template->settings.directory);
    free(template->settings.limits);
    sandbox_free(&template->settings.sandbox);
    free((void *)template->settings.message.bytes);
    free(template);
}

/* MARK: Starting */

/* Copies the repeated fields: the environment and the limits. False if there is no memory or a limit is
 * malformed. */
static bool copy_lists(struct template *template, struct body body) {
    size_t variables = 0, limits = 0;
    uint8_t tag;
    struct value value;
    for (size_t at = 0; body_next(body, &at, &tag, &value);) {
        variables += tag == 4;
        limits += tag == 5;
    }
    template->environment = calloc(variables + 1, sizeof(char *));
    template->settings.limits = calloc(limits + 1, sizeof(struct limit_setting));
    if (template->environment == NULL || template->settings.limits == NULL)
        return false;
    variables = 0;
    for (size_t at = 0; body_next(body, &at, &tag, &value);) {
        if (tag == 4) {
            template->environment[variables] = strndup((const char *)value.bytes, value.length);
            if (template->environment[variables++] == NULL)
                return false;
        } else if (tag == 5) {
            if (value.length != 24)
                return false;
            template->settings.limits[template->settings.limit_count++] = (struct limit_setting){
                .resource = (int)value_number((struct value){value.bytes, 8}),
                .limit = {.rlim_cur = value_number((struct value){value.bytes + 8, 8}),
                          .rlim_max = value_number((struct value){value.bytes + 16, 8})},
            };
        }
    }
    return true;
}

/* Keeps a copy of the message, for the program that the template executes. */
static bool copy_message(struct settings *settings, struct body body) {
    uint8_t *bytes = malloc(body.length + 1);
    if (bytes == NULL)
        return false;
    memcpy(bytes, body.bytes, body.length);
    settings->message = (struct body){bytes, body.length};
    return sandbox_parse(&settings->sandbox, body);
}

static struct template *parse(struct launcher *launcher, struct body body) {
    struct template *template = calloc(1, sizeof(*template));
    if (template == NULL)
        return NULL;
    template->id = body_number(body, 1, 0);
    template->library = body_text(body, 2);
    template->settings.directory = body_text(body, 3);
    template->cgroup = body_text(body, 7);
    template->settings.niceness = (int)(int64_t)body_number(body, 8, 0);
    template->executable = body_text(body, 9);
    template->settings.batch = body_number(body, 10, 0) != 0;
    template->settings.idle_io = body_number(body, 11, 0) != 0;
    if (template->executable == NULL)
        template->executable = strdup("/proc/self/exe");
    template->socket = template->pidfd = template->status_pipe = -1;
    template->standby.pidfd = template->standby.socket = -1;
    char *word = body_text(body, 6);
    bool done = template->settings.directory != NULL && template->executable != NULL && word != NULL &&
                isolation_parse(word, &template->isolation) && copy_lists(template, body) &&
                copy_message(&template->settings, body);
    free(word);
    if (done)
        return template;
    destroy(launcher, template);
    return NULL;
}

/* Makes this process, where tasks have a PID namespace instead of a cgroup, the child of the namespace's init,
 * so that no process of the library's constructors outlives the template. On failure, returns false with a
 * sentence in `finding`. */
static bool enter_namespace(enum isolation isolation, int status, char *finding, size_t size) {
    if (isolation != ISOLATION_PID_NAMESPACE || process_become_init(status, geteuid() != 0))
        return true;
    int code = errno;
    snprintf(finding, size, "the first process of the PID namespace can't be set up: %s (%d)", strerror(code),
             code);
    errno = code;
    return false;
}

/* Isolates this process. Where tasks have neither a cgroup nor a PID namespace, constructors may start no
 * process, because it could outlive the template. */
static bool isolate(const struct template *template, char *finding, size_t size) {
    return isolation_enter_template(&template->settings, finding, size) &&
           (template->isolation != ISOLATION_NO_FORK || isolation_enter_task(false, finding, size));
}

/* Turns the new process into a template. */
static _Noreturn void become_template(const struct template *template, int socket, int status) {
    struct template_answer answer = {.what = TEMPLATE_LOAD_FAILED};
    if (!enter_namespace(template->isolation, status, answer.finding, sizeof(answer.finding))) {
        answer.code = errno;
        packet_send(socket, &answer, sizeof(answer), NULL, 0, 0);
        _exit(71);
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int message = isolation_message(&template->settings);
    if (null >= 0 && message >= 0 &&
        isolation_arrange_descriptors((int[]){null, null, null, socket, message}, 5)) {
        fcntl(3, F_SETFD, 0);
        fcntl(TEMPLATE_MESSAGE, F_SETFD, 0);
        socket = 3;
        if (isolate(template, answer.finding, sizeof(answer.finding))) {
            bool by_namespace = template->isolation == ISOLATION_PID_NAMESPACE;
            char *arguments[] = {"bgtask-runner", "template", by_namespace ? "pidNamespace" : "shared",
                                 template->library, NULL};
            execve(template->executable, arguments, template->environment);
            answer.code = errno;
            snprintf(answer.finding, sizeof(answer.finding), "execve(%.300s): %s", template->executable,
                     strerror(answer.code));
        }
    } else {
        answer.code = errno;
        snprintf(answer.finding, sizeof(answer.finding),
                 "the process that loads the plugin can't set up its file descriptors: %s",
                 strerror(answer.code));
    }
    packet_send(socket, &answer, sizeof(answer), NULL, 0, 0);
    _exit(71);
}

/* Starts the template's process. On failure, returns false with a sentence in `finding` and the error number
 * in errno. */
static bool start(struct template *template, char *finding, size_t size) {
    int group = -1, sockets[2], status[2] = {-1, -1};
    if (template->cgroup != NULL) {
        group = open(template->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (group < 0) {
            int code = errno;
            snprintf(finding, size, "open(%.300s): %s", template->cgroup, strerror(code));
            errno = code;
            return false;
        }
    }
    const char *call = "socketpair";
    pid_t pid = -1;
    int code;
    bool has_namespace = template->isolation == ISOLATION_PID_NAMESPACE;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0) {
        call = has_namespace ? "pipe2 or clone3" : "clone3";
        if (!has_namespace || pipe2(status, O_CLOEXEC | O_NONBLOCK) == 0)
            pid = process_clone(has_namespace ? process_namespace_flags() : 0, group, &template->pidfd);
        if (pid == 0)
            become_template(template, sockets[1], status[1]);
        code = errno;
        close_descriptor(&status[1]);
        close(sockets[1]);
        if (pid < 0)
            close(sockets[0]);
    } else {
        code = errno;
    }
    if (group >= 0)
        close(group);
    template->status_pipe = status[0];
    if (pid < 0) {
        snprintf(finding, size, "the process that loads the plugin can't be created: %s: %s (%d)", call,
                 strerror(code), code);
        errno = code;
        return false;
    }
    template->pid = pid;
    template->socket = sockets[0];
    return true;
}

void templates_add(struct launcher *launcher, struct body body) {
    uint64_t id = body_number(body, 1, 0);
    struct template *template = templates_find(launcher, id) == NULL ? parse(launcher, body) : NULL;
    if (template == NULL) {
        launcher_report(launcher, MESSAGE_TEMPLATE_FAILED, id,
                        "the template message is not usable: its number is taken, its isolation is none of "
                        "cgroup, pidNamespace and noFork, a limit is not 24 bytes, or its sandbox is unknown",
                        0);
        return;
    }
    char finding[512];
    if (!start(template, finding, sizeof(finding))) {
        launcher_report(launcher, MESSAGE_TEMPLATE_FAILED, id, finding, errno);
        destroy(launcher, template);
        return;
    }
    template->next = launcher->templates;
    launcher->templates = template;
}

/* MARK: Messages to and from a template */

bool templates_ask(struct template *template, const struct clone_request *request, const int *descriptors,
                   int count) {
    if (!packet_send(template->socket, request, sizeof(*request), descriptors, count, MSG_DONTWAIT))
        return false;
    if (template->awaited++ == 0)
        template->deadline = now_nanoseconds() + TEMPLATE_ANSWER_NANOSECONDS;
    return true;
}

/* Whether a process runs as the user of the template, if that has one of its own. */
static bool has_user_of(const struct template *template, pid_t pid) {
    if (!sandbox_has_user(&template->settings.sandbox))
        return true;
    char path[64], line[256];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    unsigned user = 0;
    bool found = false;
    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL)
        found = sscanf(line, "Uid: %u", &user) == 1;
    if (file != NULL)
        fclose(file);
    return found && user == template->settings.sandbox.user;
}

/* Opens a pidfd for the process that a template reports as its clone. The code of a plugin can run in a
 * template and send such a report, so only a new child of this process with the user of the template is
 * accepted: another process would be killed in place of the task. On failure, returns -1 with a sentence in the answer. */
static int open_clone(const struct launcher *launcher, const struct template *template,
                      struct template_answer *answer) {
    siginfo_t state = {0};
    int pidfd = -1;
    if (answer->pid > 1 && !launches_own(launcher, answer->pid) && has_user_of(template, answer->pid) &&
        waitid(P_PID, (id_t)answer->pid, &state, WEXITED | WNOHANG | WNOWAIT) == 0)
        pidfd = (int)syscall(SYS_pidfd_open, answer->pid, 0); // not reaped yet, so its number is not reused
    if (pidfd < 0) {
        answer->code = 0;
        snprintf(answer->finding, sizeof(answer->finding),
                 "the process that holds the plugin named process %d as the task, which it is not",
                 (int)answer->pid);
    }
    return pidfd;
}

/* Whether this process waits for such an answer of the template. */
static bool awaits_answer(struct launcher *launcher, const struct template *template,
                          const struct template_answer *answer) {
    if (template->awaited == 0)
        return false;
    if (answer->is_standby)
        return template->standby.state == STANDBY_ASKED;
    const struct launch *launch = launches_find(launcher, answer->launch);
    return launch != NULL && launch->awaits_clone && launch->template_id == template->id;
}

/* Whether the packet can come now. The code of a plugin can send any. One for which this process does not wait
 * must not count as the answer to an order, or keep this process busy. */
static bool is_expected(struct launcher *launcher, const struct template *template,
                        const struct template_answer *answer) {
    switch (answer->what) {
    case TEMPLATE_LISTENER:
        return !template->has_sent_listener;
    case TEMPLATE_LOADED:
    case TEMPLATE_LOAD_FAILED:
        return !template->answered;
    case TEMPLATE_CLONED:
    case TEMPLATE_CLONE_FAILED:
        return awaits_answer(launcher, template, answer);
    }
    return false;
}

static void take(struct launcher *launcher, struct template *template, struct template_answer *answer,
                 int pidfd) {
    if (!is_expected(launcher, template, answer)) {
        templates_kill(template);
        close_descriptor(&template->socket);
        close_descriptor(&pidfd);
        return;
    }
    answer->finding[sizeof(answer->finding) - 1] = 0;
    bool is_first = !template->has_sent_listener;
    template->has_sent_listener = true;
    if (answer->what == TEMPLATE_CLONED) {
        close_descriptor(&pidfd);
        pidfd = open_clone(launcher, template, answer);
        if (pidfd < 0)
            templates_kill(template);
    }
    switch (answer->what) {
    case TEMPLATE_LISTENER:
        // Only the first packet counts: no code of the plugin has run before it.
        if (is_first && pidfd >= 0) {
            observers_add(launcher, template, 0, pidfd, -1);
            pidfd = -1;
        }
        break;
    case TEMPLATE_LOADED:
        template->answered = true;
        launcher->look_for_strays = true; // a constructor can make a process that is in no group
        // Without a cgroup, nothing holds the processes that a constructor may start in a template, so each
        // task loads the library in its own isolation. The template only finds out whether that works.
        if (answer->cloneable && template->isolation != ISOLATION_CGROUP) {
            answer->cloneable = false;
            snprintf(answer->finding, sizeof(answer->finding),
                     "tasks without a cgroup are not cloned: each gets a new process");
        }
        template->cloneable = answer->cloneable;
        frame_begin(&launcher->writer, MESSAGE_TEMPLATE_READY);
        frame_add_number(&launcher->writer, 1, template->id);
        frame_add_flag(&launcher->writer, 2, answer->cloneable);
        if (!answer->cloneable)
            frame_add_text(&launcher->writer, 3, answer->finding, sizeof(answer->finding));
        outbox_send(&launcher->outbox, &launcher->writer, NULL, 0);
        if (!answer->cloneable)
            templates_kill(template); // it would end by itself, unless its library prevents that
        break;
    case TEMPLATE_LOAD_FAILED:
        template->answered = template->retired = true;
        launcher_report(launcher, MESSAGE_TEMPLATE_FAILED, template->id, answer->finding, answer->code);
        break;
    default: {
        if (template->awaited > 0)
            template->awaited--;
        bool must_act = template->awaited > 0 || template->retired;
        template->deadline = must_act ? now_nanoseconds() + TEMPLATE_ANSWER_NANOSECONDS : 0;
        if (answer->is_standby) {
            bool cloned = answer->what == TEMPLATE_CLONED && pidfd >= 0;
            standbys_cloned(launcher, template, cloned ? answer->pid : 0, pidfd, answer->finding);
            return;
        }
        struct launch *launch = launches_find(launcher, answer->launch);
        if (launch != NULL && launch->awaits_clone && launch->template_id == template->id) {
            bool cloned = answer->what == TEMPLATE_CLONED && pidfd >= 0;
            launches_cloned(launcher, launch, cloned ? answer->pid : 0, cloned ? pidfd : -1, answer->finding,
                            answer->code);
            return;
        }
    }
    }
    if (pidfd >= 0)
        close(pidfd);
}

void templates_read(struct launcher *launcher, struct template *template) {
    while (template->socket >= 0) {
        struct template_answer answer;
        int descriptors[CLONE_DESCRIPTORS_MAX], count;
        int result =
            packet_receive(template->socket, &answer, sizeof(answer), descriptors, &count, MSG_DONTWAIT);
        if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (result <= 0) {
            // The template has ended, or sent an invalid packet. Its end is handled when it is reaped.
            close(template->socket);
            template->socket = -1;
            // The init of a PID namespace then reports how the template ended, unless that takes too long.
            if (template->status_pipe >= 0)
                template->deadline = now_nanoseconds() + TEMPLATE_ANSWER_NANOSECONDS;
            else
                templates_kill(template);
            return;
        }
        for (int i = 1; i < count; i++)
            close(descriptors[i]);
        take(launcher, template, &answer, count > 0 ? descriptors[0] : -1);
    }
}

/* MARK: Ending a template */

void templates_retire(struct launcher *launcher, struct template *template) {
    (void)launcher;
    template->retired = true;
    template->deadline = now_nanoseconds() + TEMPLATE_ANSWER_NANOSECONDS;
    standbys_end(template);
    if (template->socket >= 0)
        shutdown(template->socket, SHUT_WR);
}

void templates_kill(struct template *template) {
    standbys_end(template);
    if (template->pidfd >= 0)
        syscall(SYS_pidfd_send_signal, template->pidfd, SIGKILL, NULL, 0);
}

void templates_kill_overdue(struct launcher *launcher) {
    for (struct template *template = launcher->templates; template != NULL; template = template->next)
        if (template->deadline > 0 && now_nanoseconds() >= template->deadline) {
            template->deadline = 0;
            templates_kill(template);
        }
}

int templates_timeout(const struct launcher *launcher) {
    int timeout = -1;
    for (const struct template *template = launcher->templates; template != NULL; template = template->next) {
        if (template->deadline == 0)
            continue;
        int64_t left = (template->deadline - now_nanoseconds()) / 1000000 + 1;
        int wanted = left < 1 ? 1 : (int)left;
        if (timeout < 0 || wanted < timeout)
            timeout = wanted;
    }
    return timeout;
}

/* Kills processes that the library's constructors may have started, unless another template is in the same
 * group. */
static void kill_group(struct launcher *launcher, const struct template *ended) {
    if (ended->cgroup == NULL)
        return;
    for (struct template *other = launcher->templates; other != NULL; other = other->next)
        if (other != ended && other->pid > 0 && other->cgroup != NULL &&
            strcmp(other->cgroup, ended->cgroup) == 0)
            return;
    group_kill(ended->cgroup);
}

/* Reports the end of a template's process to the host, and ends the launches that wait for it. */
static void ended(struct launcher *launcher, struct template *template, int wait_status) {
    char finding[128];
    if (WIFSIGNALED(wait_status))
        snprintf(finding, sizeof(finding), "signal %d ended the process that loads the plugin",
                 WTERMSIG(wait_status));
    else
        snprintf(finding, sizeof(finding), "the process that loads the plugin exited with status %d",
                 WEXITSTATUS(wait_status));
    bool expected = template->retired || (template->answered && !template->cloneable);
    if (!expected) {
        template->retired = true;
        frame_begin(&launcher->writer, MESSAGE_TEMPLATE_FAILED);
        frame_add_number(&launcher->writer, 1, template->id);
        frame_add_text(&launcher->writer, 2, finding, sizeof(finding));
        frame_add_number(&launcher->writer, 3, (uint64_t)(uint32_t)wait_status);
        outbox_send(&launcher->outbox, &launcher->writer, NULL, 0);
    }
    standbys_end(template);
    bool lost = template->awaited > 0;
    template->awaited = 0;
    for (struct launch *launch = launcher->launches, *next; lost && launch != NULL; launch = next) {
        next = launch->next;
        if (launch->awaits_clone && launch->template_id == template->id)
            launches_cloned(launcher, launch, 0, -1, finding, 0);
    }
    // The template may have cloned a task without reporting it; that task is then a child of this process
    // that belongs to no launch. With cgroups, killing the group has already ended such a task, and other
    // unknown children may belong to other launches.
    if (lost && template->isolation != ISOLATION_CGROUP)
        launches_kill_orphans(launcher);
    kill_group(launcher, template);
}

void templates_reap(struct launcher *launcher) {
    for (struct template **link = &launcher->templates; *link != NULL;) {
        struct template *template = *link;
        int wait_status;
        standbys_reap(template);
        if (template->pid > 0 && waitpid(template->pid, &wait_status, WNOHANG) == template->pid) {
            templates_read(launcher, template); // read the template's last answers
            // The init of a PID namespace always exits with 0, and reports how the template ended.
            struct namespace_status report;
            if (template->status_pipe >= 0 &&
                read(template->status_pipe, &report, sizeof(report)) == (ssize_t)sizeof(report))
                wait_status = report.wait_status;
            template->pid = 0;
            close(template->pidfd);
            template->pidfd = -1;
            if (template->socket >= 0)
                close(template->socket);
            template->socket = -1;
            ended(launcher, template, wait_status);
        }
        if (template->pid == 0 && template->retired) {
            *link = template->next;
            destroy(launcher, template);
        } else {
            link = &template->next;
        }
    }
}
