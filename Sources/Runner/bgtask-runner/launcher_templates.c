/* The launcher's handling of templates: asking, retiring and reaping them. */
#include "launcher.h"
#include "process.h"
#include "template.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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

void templates_destroy(struct launcher *launcher, struct template *template) {
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

/* MARK: Messages to and from a template */

bool templates_ask(struct template *template, const struct clone_request *request, const int *descriptors,
                   int count) {
    if (!packet_send(template->socket, request, sizeof(*request), descriptors, count, MSG_DONTWAIT))
        return false;
    template->asked++;
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

/* Whether the process that a template reports as its clone is in the group that this process asked for. The
 * limits and the kill of a launch hold only there. */
static bool is_in_its_group(struct launcher *launcher, const struct template *template,
                            const struct template_answer *answer) {
    if (template->isolation != ISOLATION_CGROUP)
        return true;
    if (!answer->is_standby)
        return group_contains(launches_find(launcher, answer->launch)->group, answer->pid);
    int group = open(template->standby.cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool found = group >= 0 && group_contains(group, answer->pid);
    close_descriptor(&group);
    return found;
}

/* How long a process may take to end that is in no group any more: our choice, against a template that names
 * another process. */
#define ENDING_MILLISECONDS 200

/* Whether a process has ended, or does so at once: the kernel takes a process that ends out of its group some
 * microseconds before its end can be seen. */
static bool ends_soon(int pidfd) {
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    return poll(&end, 1, ENDING_MILLISECONDS) > 0;
}

/* Opens a pidfd for the process that a template reports as its clone. The code of a plugin can run in a
 * template and send such a report, so only a new child of this process with the user of the template and in
 * the group of the launch is accepted: another process would be killed in place of the task, or be out of
 * reach. On failure, returns -1 with a sentence in the answer, and a code only if a descriptor was
 * missing. */
static int open_clone(struct launcher *launcher, const struct template *template,
                      struct template_answer *answer) {
    siginfo_t state;
    int pidfd = -1;
    // Without a descriptor for what is read below, the answer would look like that of a hostile plugin.
    int room[] = {-1, -1, -1};
    answer->code = 0;
    for (size_t i = 0; i < sizeof(room) / sizeof(room[0]) && answer->code == 0; i++)
        if ((room[i] = fcntl(template->socket, F_DUPFD_CLOEXEC, 0)) < 0)
            answer->code = errno;
    for (size_t i = 0; i < sizeof(room) / sizeof(room[0]); i++)
        close_descriptor(&room[i]);
    if (answer->code != 0) {
        snprintf(answer->finding, sizeof(answer->finding), "no descriptor for the task is free: %s (%d)",
                 strerror(answer->code), answer->code);
        return -1;
    }
    bool is_child = answer->pid > 1 && !launches_own(launcher, answer->pid) &&
                    has_user_of(template, answer->pid) &&
                    waitid(P_PID, (id_t)answer->pid, &state, WEXITED | WNOHANG | WNOWAIT) == 0;
    if (is_child)
        pidfd = (int)syscall(SYS_pidfd_open, answer->pid, 0); // not reaped yet, so its number is not reused
    // A task that has ended already is in no group.
    if (pidfd >= 0 && !is_in_its_group(launcher, template, answer) && !ends_soon(pidfd))
        close_descriptor(&pidfd);
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
        return template->standby.state == STANDBY_ASKED || template->has_abandoned;
    const struct launch *launch = launches_find(launcher, answer->launch);
    return launch != NULL && launch->awaits_clone && launch->template_id == template->id;
}

/* Whether the packet can come now. The code of a plugin can send any. One for which this process does not
 * wait must not count as the answer to an order, or keep this process busy. */
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

/* Whether the packet answers the request for a standby that was given up meanwhile. */
static bool is_abandoned(const struct template *template, const struct template_answer *answer) {
    bool is_answer = answer->what == TEMPLATE_CLONED || answer->what == TEMPLATE_CLONE_FAILED;
    return is_answer && answer->is_standby && template->standby.state != STANDBY_ASKED;
}

/* Notes the answer to a request for a clone. */
static void answered(struct template *template) {
    if (template->awaited > 0)
        template->awaited--;
    bool must_act = template->awaited > 0 || template->retired;
    template->deadline = must_act ? now_nanoseconds() + TEMPLATE_ANSWER_NANOSECONDS : 0;
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
    if (is_abandoned(template, answer)) {
        // The standby ends when it sees that its socket was closed; anything else is a stray.
        template->has_abandoned = false;
        launcher->look_for_strays = true;
        close_descriptor(&pidfd);
        answered(template);
        return;
    }
    if (answer->what == TEMPLATE_CLONED) {
        close_descriptor(&pidfd);
        pidfd = open_clone(launcher, template, answer);
        if (pidfd < 0 && answer->code == 0)
            templates_kill(template);
        // Without the pipes of its launch, the clone ends. If it does not, it is found by its group.
        launcher->look_for_strays |= pidfd < 0;
    } else if (answer->what != TEMPLATE_LISTENER) {
        close_descriptor(&pidfd); // the code of a plugin sent it
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
        templates_kill(template); // a constructor can send this, and go on
        break;
    default: {
        answered(template);
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

/* Gives up a template whose listener could not be received: this process could not answer what its filter
 * reports. */
static void lose_listener(struct launcher *launcher, struct template *template) {
    template->has_sent_listener = template->answered = template->retired = true;
    launcher_report(launcher, MESSAGE_TEMPLATE_FAILED, template->id,
                    "no descriptor for the reports of the plugin's filter is free", EMFILE);
    templates_kill(template);
    close_descriptor(&template->socket);
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
        if (result == PACKET_STRIPPED && answer.what == TEMPLATE_LISTENER && !template->has_sent_listener) {
            lose_listener(launcher, template);
            continue;
        }
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

/* Ends the launches that wait for a template whose process has ended. The host gets a message if the end was
 * not expected. */
static void ended(struct launcher *launcher, struct template *template, int wait_status) {
    char finding[160];
    if (template->has_child)
        snprintf(
            finding, sizeof(finding),
            "the process that loads the plugin had started a process: a constructor left code that does");
    else if (template->is_busy)
        snprintf(
            finding, sizeof(finding),
            "the process that loads the plugin used CPU time for itself: a constructor left code that does");
    else if (template->has_rules)
        snprintf(
            finding, sizeof(finding),
            "the process that loads the plugin held rules of Landlock: a constructor left code that makes "
            "them");
    else if (WIFSIGNALED(wait_status))
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
    launcher->look_for_strays = true; // its children are now ours, and can be in other groups
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
            templates_destroy(launcher, template);
        } else {
            link = &template->next;
        }
    }
}
