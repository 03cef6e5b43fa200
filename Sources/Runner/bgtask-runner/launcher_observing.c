/* The launcher's handling of system calls that the filter of a sandbox reports: it answers each, and records it
 * for the launch. A process whose call was reported waits for the answer. */
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

/* How many calls of one filter are answered in a second; more calls wait. A refused call costs the launcher
 * about 20 us, so that a task that repeats one without end takes at most 2 % of a core. A learning run must
 * go on at a usable speed. */
enum { REFUSED_PER_SECOND = 1000, WATCHED_PER_SECOND = 20000 };
/* How many calls are answered before the launcher looks at its other descriptors. */
enum { ANSWERS_AT_ONCE = 32 };
/* How many different calls of a launch are recorded. */
enum { REFUSED_PER_LAUNCH = 64, WATCHED_PER_LAUNCH = 1024 };
/* The longest path that is recorded, with its NUL. */
enum { SUBJECT_MAX = 1024 };

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

static int64_t until_next_second(const struct observer *observer) {
    return observer->second + 1000000000 - now_nanoseconds();
}

int observers_timeout(const struct launcher *launcher) {
    int timeout = -1;
    for (const struct observer *observer = launcher->observers; observer != NULL; observer = observer->next)
        if (observer->paused) {
            int64_t left = until_next_second(observer) / 1000000 + 1;
            int wanted = left < 1 ? 1 : (int)left;
            timeout = timeout < 0 || wanted < timeout ? wanted : timeout;
        }
    return timeout;
}

/* Whether the memory of the task may be read, which only a learning run needs: a read waits for the task's lock
 * on its memory, and a hostile task can hold that for seconds. All launches would wait with the launcher. */
static bool is_learning(const struct observer *observer) {
    return observer->sandbox.observe == OBSERVE_ALL;
}

/* Counts an answer; pauses the observer when it has given its share. */
static void count_answer(struct observer *observer) {
    if (until_next_second(observer) <= 0) {
        observer->second = now_nanoseconds();
        observer->answered = 0;
    }
    unsigned limit = is_learning(observer) ? WATCHED_PER_SECOND : REFUSED_PER_SECOND;
    observer->paused = ++observer->answered >= limit;
}

/* MARK: Whose call it is */

/* Reads the process of a thread and the parent of that process. */
static bool read_family(pid_t thread, pid_t *process, pid_t *parent) {
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%d/status", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t length = read(file, text, sizeof(text) - 1);
    close(file);
    text[length > 0 ? length : 0] = 0;
    const char *group = strstr(text, "\nTgid:"), *up = strstr(text, "\nPPid:");
    return group != NULL && up != NULL && sscanf(group, "\nTgid: %d", process) == 1 &&
           sscanf(up, "\nPPid: %d", parent) == 1;
}

static struct launch *launch_numbered(const struct launcher *launcher, uint64_t id) {
    struct launch *launch = launcher->launches;
    while (launch != NULL && launch->id != id)
        launch = launch->next;
    return launch;
}

/* Finds the launch of a thread: that of its process, or of an ancestor, or of its group. NULL if there is none,
 * as for the constructors of a library. `*process` becomes the process. */
static struct launch *find_launch(struct launcher *launcher, struct observer *observer, pid_t thread,
                                  pid_t *process) {
    *process = 0;
    if (observer->launch != 0)
        return launch_numbered(launcher, observer->launch);
    if (thread == observer->last_thread && observer->last_launch != 0)
        return launch_numbered(launcher, observer->last_launch);
    struct launch *found = NULL;
    pid_t at = thread, parent = 0;
    for (int level = 0; found == NULL && level < 64 && at > 1; level++, at = parent) {
        pid_t group;
        if (!read_family(at, &group, &parent) || group == getpid())
            break;
        if (level == 0)
            *process = group;
        for (struct launch *launch = launcher->launches; launch != NULL && found == NULL;
             launch = launch->next)
            if (launch->pid == group && !launch->reaped)
                found = launch;
    }
    if (found == NULL)
        found = launches_with_group_of(launcher, thread);
    observer->last_thread = thread;
    observer->last_launch = found != NULL ? found->id : 0;
    return found;
}

/* MARK: What the call is about */

/* Reads a text from the memory of a thread that waits for the answer to its call. */
static bool read_text(pid_t thread, uint64_t address, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/mem", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    while (file >= 0 && length < size - 1) {
        // Page by page, because the page after the end of the text may not exist.
        size_t wanted = 4096 - (size_t)((address + length) % 4096);
        if (wanted > size - 1 - length)
            wanted = size - 1 - length;
        ssize_t count = pread(file, text + length, wanted, (off_t)(address + length));
        if (count <= 0)
            break;
        size_t part = strnlen(text + length, (size_t)count);
        length += part;
        if (part < (size_t)count)
            break;
    }
    if (file >= 0)
        close(file);
    text[length] = 0;
    return length > 0;
}

/* Reads a path; a relative one begins at the directory with this descriptor. */
static bool read_path(pid_t thread, int directory, uint64_t address, char *path, size_t size) {
    char text[SUBJECT_MAX];
    if (!read_text(thread, address, text, sizeof(text)))
        return false;
    if (text[0] == '/') {
        snprintf(path, size, "%s", text);
        return true;
    }
    char link[64], base[SUBJECT_MAX];
    if (directory == AT_FDCWD)
        snprintf(link, sizeof(link), "/proc/%d/cwd", thread);
    else
        snprintf(link, sizeof(link), "/proc/%d/fd/%d", thread, directory);
    ssize_t length = readlink(link, base, sizeof(base) - 1);
    if (length <= 0 || base[0] != '/')
        return false;
    base[length] = 0;
    return snprintf(path, size, "%s/%s", base, text) < (int)size;
}

static const char *family_name(int family) {
    switch (family) {
    case AF_UNIX:
        return "AF_UNIX";
    case AF_INET:
        return "AF_INET";
    case AF_INET6:
        return "AF_INET6";
    case AF_NETLINK:
        return "AF_NETLINK";
    case AF_PACKET:
        return "AF_PACKET";
    case 38:
        return "AF_ALG";
    case 40:
        return "AF_VSOCK";
    default:
        return NULL;
    }
}

/* Describes a socket: `AF_INET, SOCK_STREAM`, or its numbers. */
static void describe_socket(const uint64_t *arguments, char *text, size_t size) {
    const char *family = family_name((int)arguments[0]);
    static const char *const types[] = {"0",        "SOCK_STREAM", "SOCK_DGRAM",
                                        "SOCK_RAW", "SOCK_RDM",    "SOCK_SEQPACKET"};
    unsigned type = (unsigned)arguments[1] & 0xF;
    char number[24];
    snprintf(number, sizeof(number), "family %d", (int)arguments[0]);
    snprintf(text, size, "%s, %s", family != NULL ? family : number,
             type < sizeof(types) / sizeof(types[0]) ? types[type] : "another type");
}

/* Describes an address: its port, or the path of a Unix domain socket. */
static void describe_address(pid_t thread, const uint64_t *arguments, char *text, size_t size) {
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
        char bytes[128];
    } address = {0};
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/mem", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t wanted = arguments[2] < sizeof(address) - 1 ? (size_t)arguments[2] : sizeof(address) - 1;
    bool done = file >= 0 && pread(file, &address, wanted, (off_t)arguments[1]) == (ssize_t)wanted;
    if (file >= 0)
        close(file);
    if (done && address.any.sa_family == AF_INET)
        snprintf(text, size, "port %d", ntohs(address.four.sin_port));
    else if (done && address.any.sa_family == AF_INET6)
        snprintf(text, size, "port %d", ntohs(address.six.sin6_port));
    else if (done && address.any.sa_family == AF_UNIX)
        snprintf(text, size, "%s", address.bytes + sizeof(sa_family_t));
}

/* How each call names its file. A descriptor argument of -1 stands for the working directory. */
static const struct path_call {
    int number, directory, path;
    enum { USE_OF_FLAGS, USE_WRITE, USE_EXECUTE } use;
} path_calls[] = {
#ifdef SYS_open
    {SYS_open, -1, 0, USE_OF_FLAGS},   {SYS_creat, -1, 0, USE_WRITE},    {SYS_mkdir, -1, 0, USE_WRITE},
    {SYS_rmdir, -1, 0, USE_WRITE},     {SYS_unlink, -1, 0, USE_WRITE},   {SYS_rename, -1, 0, USE_WRITE},
    {SYS_rename, -1, 1, USE_WRITE},    {SYS_link, -1, 1, USE_WRITE},     {SYS_symlink, -1, 1, USE_WRITE},
#endif
#ifdef SYS_renameat
    {SYS_renameat, 0, 1, USE_WRITE},   {SYS_renameat, 2, 3, USE_WRITE},
#endif
    {SYS_openat, 0, 1, USE_OF_FLAGS},  {SYS_mkdirat, 0, 1, USE_WRITE},   {SYS_unlinkat, 0, 1, USE_WRITE},
    {SYS_renameat2, 0, 1, USE_WRITE},  {SYS_renameat2, 2, 3, USE_WRITE}, {SYS_linkat, 2, 3, USE_WRITE},
    {SYS_symlinkat, 1, 2, USE_WRITE},  {SYS_truncate, -1, 0, USE_WRITE}, {SYS_execve, -1, 0, USE_EXECUTE},
    {SYS_execveat, 0, 1, USE_EXECUTE},
};

/* The word for the use of a file that is opened with these flags; NULL if the sandbox has no rule for it. */
static const char *use_of(uint64_t flags) {
    if (flags & O_PATH)
        return NULL;
    return (flags & (O_ACCMODE | O_CREAT | O_TRUNC)) == O_RDONLY ? "read" : "write";
}

/* MARK: The record */

static void record(struct launch *launch, bool watched, bool refused, const char *call, const char *subject,
                   const char *use) {
    for (struct observed *seen = launch->observed; seen != NULL; seen = seen->next)
        if (seen->refused == refused && strcmp(seen->call, call) == 0 && strcmp(seen->use, use) == 0 &&
            strcmp(seen->subject != NULL ? seen->subject : "", subject) == 0) {
            seen->count++;
            return;
        }
    struct observed *seen = launch->observed_count < (watched ? WATCHED_PER_LAUNCH : REFUSED_PER_LAUNCH)
                                ? calloc(1, sizeof(*seen))
                                : NULL;
    if (seen == NULL) {
        launch->unlisted++;
        return;
    }
    snprintf(seen->call, sizeof(seen->call), "%s", call);
    snprintf(seen->use, sizeof(seen->use), "%s", use);
    seen->subject = subject[0] != 0 ? strdup(subject) : NULL;
    seen->refused = refused;
    seen->count = 1;
    seen->next = launch->observed;
    launch->observed = seen;
    launch->observed_count++;
}

/* Whether the thread still waits for the answer; otherwise, its number may be that of another one. */
static bool is_valid(const struct observer *observer, uint64_t id) {
    return ioctl(observer->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/* Records a call that uses files; one call can name two. */
static bool record_paths(struct observer *observer, struct launch *launch, const struct seccomp_notif *report,
                         const struct sandbox_answer *answer) {
    bool found = false;
    const uint64_t *arguments = (const uint64_t *)report->data.args;
    for (size_t i = 0; i < sizeof(path_calls) / sizeof(path_calls[0]); i++) {
        const struct path_call *call = &path_calls[i];
        if (call->number != report->data.nr)
            continue;
        found = true;
        const char *use = call->use == USE_EXECUTE ? "execute" : "write";
        if (call->use == USE_OF_FLAGS)
            use = use_of(arguments[call->path + 1]);
        int directory = call->directory < 0 ? AT_FDCWD : (int)arguments[call->directory];
        char path[SUBJECT_MAX];
        if (use == NULL)
            continue;
        // A refused call is recorded even if its path can't be read.
        if (!is_learning(observer) ||
            !read_path((pid_t)report->pid, directory, arguments[call->path], path, sizeof(path))) {
            if (answer->code == 0)
                continue;
            path[0] = 0;
        }
        if (is_valid(observer, report->id))
            record(launch, is_learning(observer), answer->code != 0, answer->name, path, use);
    }
    return found;
}

static void record_call(struct observer *observer, struct launch *launch, const struct seccomp_notif *report,
                        const struct sandbox_answer *answer) {
    if (record_paths(observer, launch, report, answer))
        return;
    char subject[SUBJECT_MAX] = "";
    const uint64_t *arguments = (const uint64_t *)report->data.args;
    int call = report->data.nr;
    const char *use = "";
    if (call == SYS_socket || call == SYS_socketpair)
        describe_socket(arguments, subject, sizeof(subject));
    else if (call == SYS_connect || call == SYS_bind) {
        if (is_learning(observer))
            describe_address((pid_t)report->pid, arguments, subject, sizeof(subject));
        use = "connect";
    }
    if (is_valid(observer, report->id))
        record(launch, is_learning(observer), answer->code != 0, answer->name, subject, use);
}

void observers_send(struct launcher *launcher, const struct launch *launch) {
    struct frame_writer *writer = &launcher->writer;
    for (const struct observed *seen = launch->observed; seen != NULL; seen = seen->next) {
        frame_begin(writer, MESSAGE_OBSERVED);
        frame_add_number(writer, 1, launch->id);
        frame_add_text(writer, 2, seen->call, sizeof(seen->call));
        if (seen->subject != NULL)
            frame_add_text(writer, 3, seen->subject, SUBJECT_MAX);
        if (seen->use[0] != 0)
            frame_add_text(writer, 4, seen->use, sizeof(seen->use));
        if (seen->refused)
            frame_add_flag(writer, 5, true);
        frame_add_number(writer, 6, seen->count);
        outbox_send(&launcher->outbox, writer, NULL, 0);
    }
    if (launch->unlisted == 0)
        return;
    frame_begin(writer, MESSAGE_OBSERVED);
    frame_add_number(writer, 1, launch->id);
    frame_add_number(writer, 6, launch->unlisted);
    outbox_send(&launcher->outbox, writer, NULL, 0);
}

void observers_drop(struct launch *launch) {
    for (struct observed *seen = launch->observed, *next; seen != NULL; seen = next) {
        next = seen->next;
        free(seen->subject);
        free(seen);
    }
    launch->observed = NULL;
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
    pid_t process;
    struct launch *launch = find_launch(launcher, observer, (pid_t)report->pid, &process);
    struct sandbox_answer answer = sandbox_answer(&observer->sandbox, report->data.nr);
    // The arguments of clone are numbers, which the caller can't change any more.
    if (report->data.nr == SYS_clone && launch == NULL && observer->template != NULL &&
        process == observer->template->pid && process > 0)
        answer.code = 0;
    if (launch != NULL)
        record_call(observer, launch, report, &answer);
    struct {
        struct seccomp_notif_resp reply;
        char room[64];
    } sent = {.reply = {.id = report->id, .error = -answer.code}};
    if (answer.code == 0)
        sent.reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    count_answer(observer);
    return ioctl(observer->listener, SECCOMP_IOCTL_NOTIF_SEND, &sent.reply) == 0 || errno == ENOENT;
}

static bool has_report(const struct observer *observer) {
    struct pollfd source = {.fd = observer->listener, .events = POLLIN};
    return poll(&source, 1, 0) == 1 && (source.revents & POLLIN) != 0;
}

/* Receives the listener of a fresh task. No code of a plugin has run before. */
static bool receive_listener(struct observer *observer) {
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
    if (observer->paused) {
        observer->paused = until_next_second(observer) > 0;
        return;
    }
    if (revents == 0)
        return;
    if (observer->listener < 0) {
        if (!receive_listener(observer))
            end(launcher, observer);
        return;
    }
    // A call that is reported can't be withdrawn without an entry in the kernel's list, so that receiving
    // it does not block.
    bool works = true;
    for (int i = 0; works && i < ANSWERS_AT_ONCE && !observer->paused && has_report(observer); i++)
        works = answer_one(launcher, observer);
    // Without POLLIN, the last process with the filter has ended.
    if (!works || (revents & POLLIN) == 0)
        end(launcher, observer);
}
