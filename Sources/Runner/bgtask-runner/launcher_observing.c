/* The launcher's handling of system calls that the filter of a sandbox reports: it finds the launch of each,
 * and answers it. A process whose call was reported waits for the answer. launcher_observed.c records the
 * calls. */
#include "launcher.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the answers to all filters may cost together in a second; more calls wait. An answer costs 1, and 1
 * for each file of /proc that is read for it, since a task chooses how many that are. 1 is about 10 us, so
 * that tasks that repeat calls without end take about 2 % of a core. Filters that had calls in the second
 * before have equal shares. A learning run must go on at a usable speed; only a user can start one. */
enum { COST_PER_SECOND = 2000, LEARNING_FACTOR = 20 };
/* What the answers to a filter cost before the launcher looks at its other descriptors. */
enum { COST_AT_ONCE = 64 };
/* The flags of clone that refuse_namespaces in sandbox_calls.c refuses to everybody. */
#define NAMESPACES                                                                                           \
    ((uint64_t)(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |    \
                CLONE_NEWCGROUP))
/* MARK: Observers */

static void drop(int *descriptor) {
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

void observers_add(struct launcher *launcher, struct template *template, uint64_t launch, int listener,
                   int socket) {
    struct observer *observer = calloc(1, sizeof(*observer));
    if (observer == NULL) {
        // The filter then refuses all calls that it would have reported.
        drop(&listener);
        drop(&socket);
        return;
    }
    const struct sandbox *sandbox = &template->settings.sandbox;
    *observer = (struct observer){
        .next = launcher->observers,
        .template = launch == 0 ? template : NULL,
        .launch = launch,
        .socket = socket,
        .listener = listener,
        .sandbox = {.layers = sandbox->layers,
                    .network = sandbox->network,
                    .subprocesses = sandbox->subprocesses,
                    .observe = sandbox->observe},
    };
    launcher->observers = observer;
}

static void end(struct launcher *launcher, struct observer *observer) {
    for (struct observer **link = &launcher->observers; *link != NULL; link = &(*link)->next)
        if (*link == observer) {
            *link = observer->next;
            break;
        }
    drop(&observer->socket);
    drop(&observer->listener);
    free(observer);
}

void observers_forget(struct launcher *launcher, const struct template *template) {
    for (struct observer *observer = launcher->observers; observer != NULL; observer = observer->next)
        if (observer->template == template)
            observer->template = NULL;
}

int observers_descriptor(const struct observer *observer) {
    if (observer->paused)
        return -1;
    return observer->listener >= 0 ? observer->listener : observer->socket;
}

static int64_t until_next_second(const struct launcher *launcher) {
    return launcher->second + 1000000000 - now_nanoseconds();
}

int observers_timeout(const struct launcher *launcher) {
    bool any = false;
    for (const struct observer *observer = launcher->observers; observer != NULL; observer = observer->next)
        any = any || observer->paused;
    if (!any)
        return -1;
    int64_t left = until_next_second(launcher) / 1000000 + 1;
    return left < 1 ? 1 : (int)left;
}

static unsigned limit_of(const struct launcher *launcher, const struct observer *observer) {
    return launcher->share * (observer_is_learning(observer) ? LEARNING_FACTOR : 1);
}

/* Begins a new second if the present one is over. What an answer cost above the limit is taken from the new
 * share. */
static void renew_shares(struct launcher *launcher) {
    if (launcher->second > 0 && until_next_second(launcher) > 0)
        return;
    unsigned active = 0;
    bool was_before = until_next_second(launcher) > -1000000000;
    for (struct observer *observer = launcher->observers; observer != NULL; observer = observer->next) {
        if (!was_before)
            observer->spent = 0;
        active += observer->spent > 0;
        unsigned limit = limit_of(launcher, observer);
        observer->spent -= observer->spent < limit ? observer->spent : limit;
    }
    launcher->second = now_nanoseconds();
    launcher->share = COST_PER_SECOND / (active > 0 ? active : 1);
    if (launcher->share == 0)
        launcher->share = 1;
    for (struct observer *observer = launcher->observers; observer != NULL; observer = observer->next)
        observer->paused = observer->spent >= limit_of(launcher, observer);
}

/* MARK: Whose call it is */

/* Finds the launch of the thread of a reported call. `*process` becomes its process, or 0. */
static struct launch *find_launch(struct launcher *launcher, const struct observer *observer, pid_t thread,
                                  pid_t *process) {
    *process = 0;
    if (observer->launch != 0)
        return owners_launch(launcher, observer->launch);
    return owners_find(launcher, thread, process);
}

/* MARK: Answers */

/* Answers one call. Returns false if the listener is of no use any more. */
static bool answer_one(struct launcher *launcher, struct observer *observer) {
    // The kernel may write more than the headers that this was built with know.
    static union {
        struct seccomp_notif report;
        char room[512];
    } received;
    memset(&received, 0, sizeof(received));
    struct seccomp_notif *report = &received.report;
    if (ioctl(observer->listener, SECCOMP_IOCTL_NOTIF_RECV, report) != 0)
        return errno == ENOENT || errno == EINTR; // the process was killed meanwhile
    uint64_t lookups = launcher->lookups;
    pid_t process;
    struct launch *launch = find_launch(launcher, observer, (pid_t)report->pid, &process);
    struct sandbox_answer answer =
        sandbox_answer(&observer->sandbox, report->data.nr, (const uint64_t *)report->data.args);
    // The arguments of clone are numbers, which the caller can't change any more.
    if (report->data.nr == SYS_clone && (report->data.args[0] & NAMESPACES) == 0 && launch == NULL &&
        observer->template != NULL && process == observer->template->pid && process > 0)
        answer.code = 0;
    bool is_signal = signals_answer(launcher, observer, launch, report, &answer);
    if (launch != NULL && !is_signal)
        observed_record(observer, launch, report, &answer);
    struct {
        struct seccomp_notif_resp reply;
        char room[64];
    } sent = {.reply = {.id = report->id, .error = -answer.code}};
    if (answer.code == 0)
        sent.reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    observer->spent += 1 + (unsigned)(launcher->lookups - lookups);
    observer->paused = observer->spent >= limit_of(launcher, observer);
    return ioctl(observer->listener, SECCOMP_IOCTL_NOTIF_SEND, &sent.reply) == 0 || errno == ENOENT;
}

static bool has_report(const struct observer *observer) {
    struct pollfd source = {.fd = observer->listener, .events = POLLIN};
    return poll(&source, 1, 0) == 1 && (source.revents & POLLIN) != 0;
}

/* Receives the listener of a fresh task. No code of a plugin has run before. Without a free descriptor, it
 * stays where it is, and the task waits with its first call that the filter reports. */
static bool receive_listener(struct observer *observer) {
    int room = fcntl(observer->socket, F_DUPFD_CLOEXEC, 0);
    observer->paused = room < 0;
    if (observer->paused)
        return true;
    close(room);
    struct template_answer answer;
    int descriptors[CLONE_DESCRIPTORS_MAX], count;
    int result = packet_receive(observer->socket, &answer, sizeof(answer), descriptors, &count, MSG_DONTWAIT);
    if (result < 0 && errno == EAGAIN)
        return true;
    drop(&observer->socket);
    for (int i = 1; result > 0 && i < count; i++)
        close(descriptors[i]);
    observer->listener = result > 0 && count > 0 ? descriptors[0] : -1;
    return observer->listener >= 0;
}

void observers_read(struct launcher *launcher, struct observer *observer, short revents) {
    renew_shares(launcher);
    if (observer->paused || revents == 0)
        return;
    if (observer->listener < 0) {
        if (!receive_listener(observer))
            end(launcher, observer);
        return;
    }
    // A call that is reported can't be withdrawn without an entry in the kernel's list, so that receiving
    // it does not block.
    bool works = true;
    unsigned before = observer->spent;
    while (works && observer->spent - before < COST_AT_ONCE && !observer->paused && has_report(observer))
        works = answer_one(launcher, observer);
    // Without POLLIN, the last process with the filter has ended.
    if (!works || (revents & POLLIN) == 0)
        end(launcher, observer);
}
