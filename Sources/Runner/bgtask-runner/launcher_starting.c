/* The launcher's handling of *template*: it keeps the settings, and starts the template's process. */
#include "launcher.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
    templates_destroy(launcher, template);
    return NULL;
}

/* Makes this process, where tasks have a PID namespace instead of a cgroup, the child of the namespace's
 * init, so that no process of the library's constructors outlives the template. On failure, returns false
 * with a sentence in `finding`. */
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
        templates_destroy(launcher, template);
        return;
    }
    template->next = launcher->templates;
    launcher->templates = template;
    frame_begin(&launcher->writer, MESSAGE_TEMPLATE_STARTED);
    frame_add_number(&launcher->writer, 1, template->id);
    frame_add_number(&launcher->writer, 2, (uint64_t) template->pid);
    outbox_send(&launcher->outbox, &launcher->writer, NULL, 0);
}
