/* The launcher's main loop: it handles frames from the host, answers from templates, and SIGCHLD. */
#include "launcher.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOST_SOCKET 3

/* MARK: The host */

/* Handles the end of the host, or an invalid message from it: nothing is started any more. */
static void drain(struct launcher *launcher) {
    if (launcher->draining)
        return;
    launcher->draining = true;
    // The next host takes the time of the lock file as the end of this host, even if that was killed.
    if (launcher->lock >= 0)
        futimens(launcher->lock, NULL);
    launcher->drain_deadline = now_nanoseconds() + DRAIN_NANOSECONDS;
    outbox_abandon(&launcher->outbox);
    close(HOST_SOCKET);
    for (struct template *template = launcher->templates; template != NULL; template = template->next) {
        template->retired = true;
        templates_kill(template);
    }
}

static void obey(struct launcher *launcher, const struct frame *frame) {
    uint64_t id = body_number(frame->body, 1, 0);
    switch (frame->kind) {
    case MESSAGE_TEMPLATE:
        templates_add(launcher, frame->body);
        break;
    case MESSAGE_SPAWN:
        launches_spawn(launcher, frame->body);
        break;
    case MESSAGE_KILL: {
        struct launch *launch = launches_find(launcher, id);
        if (launch != NULL) // otherwise, it ended before the frame arrived
            launches_kill(launch);
        break;
    }
    case MESSAGE_PREPARE:
        standbys_prepare(launcher, frame->body);
        break;
    case MESSAGE_RETIRE:
    case MESSAGE_KILL_TEMPLATE: {
        struct template *template = templates_find(launcher, id);
        if (template != NULL && frame->kind == MESSAGE_RETIRE)
            templates_retire(launcher, template);
        else if (template != NULL)
            templates_kill(template);
        break;
    }
    default:
        fprintf(stderr,
                "bgtask-runner launcher: ends, because the host sent a message of the unknown kind 0x%02x; "
                "install bgtaskd and bgtask-runner from one version\n",
                frame->kind);
        drain(launcher);
    }
}

static void read_host(struct launcher *launcher) {
    uint8_t *at;
    size_t room = frame_reader_room(&launcher->reader, &at);
    ssize_t count = read(HOST_SOCKET, at, room);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count <= 0) {
        drain(launcher);
        return;
    }
    frame_reader_added(&launcher->reader, (size_t)count);
    struct frame frame;
    enum frame_status status = FRAME_READY;
    while (!launcher->draining && (status = frame_reader_next(&launcher->reader, &frame)) == FRAME_READY)
        obey(launcher, &frame);
    if (status == FRAME_VIOLATION) {
        fprintf(stderr, "bgtask-runner launcher: %s\n", launcher->reader.violation);
        drain(launcher);
    }
}

/* MARK: The loop */

/* Whether no child processes are left, so that the lock may be released. */
static bool is_over(struct launcher *launcher) {
    if (launcher->launches != NULL || launcher->templates != NULL)
        return false;
    guardian_dismiss(launcher);
    launches_kill_orphans(launcher);
    launches_reap_orphans(launcher);
    siginfo_t any;
    return waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
}

static int shorter(int one, int other) {
    return one < 0 || (other >= 0 && other < one) ? other : one;
}

static int loop_timeout(const struct launcher *launcher) {
    int timeout = shorter(shorter(launches_timeout(launcher), templates_timeout(launcher)),
                          shorter(observers_timeout(launcher), templates_watch_timeout(launcher)));
    // For lack of a descriptor, the last look was not made.
    if (launcher->look_for_strays)
        timeout = shorter(timeout, 100);
    if (!launcher->draining)
        return timeout;
    int64_t left = (launcher->drain_deadline - now_nanoseconds()) / 1000000 + 1;
    int drain = launcher->launches == NULL || left < 5 ? 5 : (int)left;
    return shorter(timeout, drain);
}

static void reap(struct launcher *launcher, int signals) {
    struct signalfd_siginfo information;
    while (read(signals, &information, sizeof(information)) > 0)
        continue; // one signal may represent several children, so all of them are checked
    guardian_reap(launcher);
    launches_reap(launcher);
    templates_reap(launcher);
    launches_reap_orphans(launcher);
    launches_kill_strays(launcher);
}

enum { SOURCES = 2 + 4096 };

/* Adds a descriptor to what is polled; returns its place, or 0. One that is closed is left out, because poll
 * fails if it gets more places than this process may have descriptors. */
static size_t add_source(struct pollfd *sources, size_t *count, int descriptor) {
    if (descriptor < 0 || *count >= SOURCES)
        return 0;
    sources[*count] = (struct pollfd){.fd = descriptor, .events = POLLIN};
    return (*count)++;
}

static int run(struct launcher *launcher, int signals) {
    static struct pollfd sources[SOURCES];
    while (!(launcher->draining && is_over(launcher))) {
        size_t count = 0;
        sources[count++] = (struct pollfd){.fd = signals, .events = POLLIN};
        short host_events = outbox_waits(&launcher->outbox) ? POLLIN | POLLOUT : POLLIN;
        sources[count++] =
            (struct pollfd){.fd = launcher->draining ? -1 : HOST_SOCKET, .events = host_events};
        for (struct template *template = launcher->templates; template != NULL; template = template->next)
            add_source(sources, &count, template->socket);
        for (struct observer *observer = launcher->observers; observer != NULL; observer = observer->next)
            observer->source = add_source(sources, &count, observers_descriptor(observer));
        if (poll(sources, count, loop_timeout(launcher)) < 0 && errno != EINTR)
            return 71;
        // Observers are added only below, so the list is still the one that was polled.
        for (struct observer *observer = launcher->observers, *next; observer != NULL; observer = next) {
            next = observer->next;
            observers_read(launcher, observer, observer->source > 0 ? sources[observer->source].revents : 0);
        }
        // Answers come first, because a task may have ended before the answer of its template was read.
        for (struct template *template = launcher->templates; template != NULL; template = template->next)
            templates_read(launcher, template);
        reap(launcher, signals);
        templates_kill_overdue(launcher);
        templates_watch(launcher);
        if (!launcher->draining && (sources[1].revents & POLLOUT) != 0 && !outbox_flush(&launcher->outbox))
            drain(launcher);
        if (!launcher->draining && (sources[1].revents & ~POLLOUT) != 0)
            read_host(launcher);
        if (launcher->draining && now_nanoseconds() >= launcher->drain_deadline)
            for (struct launch *launch = launcher->launches; launch != NULL; launch = launch->next)
                if (!launch->killed)
                    launches_kill(launch);
    }
    return 0;
}

/* MARK: Start */

static bool take_lock(struct launcher *launcher, const char *path) {
    launcher->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (launcher->lock < 0)
        return false;
    // This waits for an earlier launcher that is still ending the tasks of a host that died. The lock is held
    // until this process and its guardian have ended.
    int result;
    do
        result = flock(launcher->lock, LOCK_EX);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

static int fail(const char *call) {
    fprintf(stderr, "bgtask-runner launcher: %s: %s\n", call, strerror(errno));
    return 71;
}

/* Takes the nice value of the host's process, that is, of its first thread. The thread that started this
 * process can have another one: libdispatch gives worker threads the value of their quality of service, and
 * new threads and processes inherit it. Templates and tasks would then have a lower priority than they
 * should. Without privilege, the kernel refuses this, and the value stays. */
static void take_priority_of_host(void) {
    struct ucred host;
    socklen_t size = sizeof(host);
    if (getsockopt(HOST_SOCKET, SOL_SOCKET, SO_PEERCRED, &host, &size) != 0 || host.pid <= 0)
        return;
    errno = 0;
    int nice = getpriority(PRIO_PROCESS, (id_t)host.pid);
    if (errno == 0)
        setpriority(PRIO_PROCESS, 0, nice);
}

int launcher_main(const char *lock_path, const char *groups) {
    static struct launcher the_launcher = {.lock = -1, .host_process = -1, .guardian_pipe = -1};
    struct launcher *launcher = &the_launcher;
    launcher->groups = groups;
    // Signals from a terminal are for the host. The launcher notices the end of the host by the end of the
    // socket.
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    take_priority_of_host();
    setsid(); // fails if the host has already made this process a session leader
    if (fcntl(HOST_SOCKET, F_SETFD, FD_CLOEXEC) != 0)
        return fail("descriptor 3, the host's socket");
    fcntl(HOST_SOCKET, F_SETFL, fcntl(HOST_SOCKET, F_GETFL) | O_NONBLOCK);
    close_range(4, ~0u, 0);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return fail("prctl(PR_SET_CHILD_SUBREAPER)");
    if (lock_path != NULL && !take_lock(launcher, lock_path))
        return fail("the lock file");
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    int signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        return fail("signalfd");
    launcher->outbox.socket = HOST_SOCKET;
    if (!guardian_start(launcher))
        return fail("the guardian");
    frame_begin(&launcher->writer, MESSAGE_HELLO);
    frame_add_number(&launcher->writer, 1, PROTOCOL_VERSION);
    frame_add_number(&launcher->writer, 2, (uint64_t)getpid());
    outbox_send(&launcher->outbox, &launcher->writer, NULL, 0);
    return run(launcher, signals);
}
