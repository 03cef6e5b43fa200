/* The launcher's answers to signals that the filter of a sandbox reports. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Reads a line of a small file of /proc that begins with `name`; returns what follows. */
static bool read_line(const char *path, const char *name, char *value, size_t size) {
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    char line[256];
    bool found = false;
    while (!found && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0) {
            line[strcspn(line, "\n")] = 0;
            snprintf(value, size, "%s", line + strlen(name));
            found = true;
        }
    fclose(file);
    return found;
}

/* The numbers of the process of a thread, in this process's PID namespace and in each namespace below it. */
static bool read_numbers(pid_t thread, char *numbers, size_t size) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/status", thread);
    return read_line(path, "NStgid:", numbers, size);
}

/* The number by which a process knows itself, and whether its namespace is this process's; 0 if it has
 * ended. */
static pid_t own_number(pid_t thread, bool *is_below) {
    char numbers[256];
    if (!read_numbers(thread, numbers, sizeof(numbers)))
        return 0;
    char *first = numbers + strspn(numbers, "\t "), *last = strrchr(first, '\t');
    *is_below = last != NULL;
    return (pid_t)atoi(last != NULL ? last + 1 : first);
}

/* The process that a pidfd of a thread refers to, as this process numbers it. */
static pid_t process_of(pid_t thread, int descriptor) {
    char path[64], value[32];
    snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", thread, descriptor);
    return read_line(path, "Pid:", value, sizeof(value)) ? (pid_t)atoi(value) : -1;
}

/* Whether a signal of a task that may start processes leads out of its launch. The kernel refuses it then. */
static bool leads_outside(struct launcher *launcher, const struct launch *launch, pid_t own, pid_t target) {
    if (target == own)
        return false;
    if (target < -1)
        target = -target;
    if (launch == NULL || target <= 0 || (kill(target, 0) != 0 && errno == ESRCH))
        return false;
    pid_t process;
    return owners_find(launcher, target, &process) != launch;
}

static const char *name_of(uint64_t signal) {
    static const char *const names[] = {"signal 0", "SIGHUP", "SIGINT", "SIGQUIT"};
    if (signal <= LOW_SIGNAL)
        return names[signal];
    return signal == SIGKILL ? "SIGKILL" : signal == SIGTERM ? "SIGTERM" : "SIGSTOP";
}

static void describe(const struct signal_call *call, const uint64_t *arguments, char *text, size_t size) {
    char target[32] = "";
    int number = (int)arguments[0];
    if (call == NULL || number > 0)
        snprintf(target, sizeof(target), "process %d", number);
    else if (number < -1)
        snprintf(target, sizeof(target), "group %d", -number);
    else
        snprintf(target, sizeof(target), number == 0 ? "its own group" : "all processes");
    if (call != NULL && call->number == SYS_tkill)
        snprintf(target, sizeof(target), "thread %d", number);
    if (call != NULL && call->number == SYS_pidfd_send_signal)
        snprintf(target, sizeof(target), "descriptor %d", number);
    if (call == NULL)
        snprintf(text, size, "%s", target);
    else
        snprintf(text, size, "%s, %s", target, name_of(arguments[call->signal]));
}

bool signals_answer(struct launcher *launcher, struct observer *observer, struct launch *launch,
                    const struct seccomp_notif *report, struct sandbox_answer *answer) {
    const struct signal_call *call = sandbox_signal_call(report->data.nr);
    if (call == NULL && report->data.nr != SYS_pidfd_open)
        return false;
    const uint64_t *arguments = (const uint64_t *)report->data.args;
    bool is_below = false, is_refused;
    launcher->lookups++;
    pid_t own = own_number((pid_t)report->pid, &is_below);
    if (observer->template != NULL && launch == NULL && own == observer->template->pid) {
        // A constructor: the kernel decides, as for the processes that it may start.
        answer->code = 0;
        return true;
    }
    if (observer->sandbox.subprocesses) {
        pid_t target = (pid_t)arguments[0];
        // In a PID namespace, only its init exists beside the processes of the launch.
        bool is_init = is_below && target == 1;
        if (call != NULL && call->number == SYS_pidfd_send_signal) {
            launcher->lookups++;
            target = process_of((pid_t)report->pid, (int)arguments[0]);
            is_init = is_below && launch != NULL && target == launch->pid;
        }
        answer->code = 0;
        is_refused = (observer->sandbox.layers & LAYER_LANDLOCK_SCOPES) != 0 &&
                     (is_below ? is_init : leads_outside(launcher, launch, own, target));
    } else {
        bool names_process = call == NULL || call->process >= 0;
        is_refused = !names_process || own <= 0 || (pid_t)arguments[0] != own;
        answer->code = is_refused ? EPERM : 0;
    }
    char subject[96];
    describe(call, arguments, subject, sizeof(subject));
    if (is_refused && launch != NULL)
        observed_record_refusal(observer, launch, report, answer->name, subject);
    return true;
}
