/* The record of the system calls of a launch that the filter of its sandbox reported. */
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

/* How many different calls of a launch are recorded. */
enum { REFUSED_PER_LAUNCH = 192, WATCHED_PER_LAUNCH = 1024 };
/* How many subjects a refused call has in the list: a task could otherwise fill it with one call, such as
 * socket, and then make others. Further subjects count together. */
enum { SUBJECTS_PER_CALL = 16 };
/* The longest path that is recorded, with its NUL. */
enum { SUBJECT_MAX = 1024 };

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
    {SYS_open, -1, 0, USE_OF_FLAGS},     {SYS_creat, -1, 0, USE_WRITE},
    {SYS_mkdir, -1, 0, USE_WRITE},       {SYS_rmdir, -1, 0, USE_WRITE},
    {SYS_unlink, -1, 0, USE_WRITE},      {SYS_rename, -1, 0, USE_WRITE},
    {SYS_rename, -1, 1, USE_WRITE},      {SYS_link, -1, 1, USE_WRITE},
    {SYS_symlink, -1, 1, USE_WRITE},     {SYS_mknod, -1, 0, USE_WRITE},
    {SYS_chmod, -1, 0, USE_WRITE},       {SYS_chown, -1, 0, USE_WRITE},
    {SYS_lchown, -1, 0, USE_WRITE},      {SYS_utime, -1, 0, USE_WRITE},
    {SYS_utimes, -1, 0, USE_WRITE},
#endif
#ifdef SYS_renameat
    {SYS_renameat, 0, 1, USE_WRITE},     {SYS_renameat, 2, 3, USE_WRITE},
#endif
    {SYS_openat, 0, 1, USE_OF_FLAGS},    {SYS_mkdirat, 0, 1, USE_WRITE},
    {SYS_unlinkat, 0, 1, USE_WRITE},     {SYS_renameat2, 0, 1, USE_WRITE},
    {SYS_renameat2, 2, 3, USE_WRITE},    {SYS_linkat, 2, 3, USE_WRITE},
    {SYS_symlinkat, 1, 2, USE_WRITE},    {SYS_truncate, -1, 0, USE_WRITE},
    {SYS_execve, -1, 0, USE_EXECUTE},    {SYS_execveat, 0, 1, USE_EXECUTE},
    {SYS_mknodat, 0, 1, USE_WRITE},      {SYS_fchmodat, 0, 1, USE_WRITE},
    {SYS_fchownat, 0, 1, USE_WRITE},     {SYS_utimensat, 0, 1, USE_WRITE},
    {SYS_setxattr, -1, 0, USE_WRITE},    {SYS_lsetxattr, -1, 0, USE_WRITE},
    {SYS_removexattr, -1, 0, USE_WRITE}, {SYS_lremovexattr, -1, 0, USE_WRITE},
};

/* The word for the use of a file that is opened with these flags; NULL if the sandbox has no rule for it. */
static const char *use_of(uint64_t flags) {
    if (flags & O_PATH)
        return NULL;
    return (flags & (O_ACCMODE | O_CREAT | O_TRUNC)) == O_RDONLY ? "read" : "write";
}

/* MARK: The record */

static struct observed *find_observed(const struct launch *launch, bool refused, const char *call,
                                      const char *subject, const char *use) {
    struct observed *seen = launch->observed;
    while (seen != NULL &&
           (seen->refused != refused || strcmp(seen->call, call) != 0 || strcmp(seen->use, use) != 0 ||
            strcmp(seen->subject != NULL ? seen->subject : "", subject) != 0))
        seen = seen->next;
    return seen;
}

static bool has_all_subjects(const struct launch *launch, const char *call) {
    unsigned count = 0;
    for (const struct observed *seen = launch->observed; seen != NULL; seen = seen->next)
        count += strcmp(seen->call, call) == 0;
    return count >= SUBJECTS_PER_CALL;
}

static void record(struct launch *launch, bool watched, bool refused, const char *call, const char *subject,
                   const char *use) {
    struct observed *seen = find_observed(launch, refused, call, subject, use);
    if (seen == NULL && !watched && has_all_subjects(launch, call)) {
        subject = "";
        seen = find_observed(launch, refused, call, subject, use);
    }
    if (seen != NULL) {
        seen->count++;
        return;
    }
    if (launch->observed_count < (watched ? WATCHED_PER_LAUNCH : REFUSED_PER_LAUNCH))
        seen = calloc(1, sizeof(*seen));
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
        // The filter refuses a change whatever the path is, so no grant permits it.
        if (answer->code != 0 && call->use != USE_EXECUTE)
            use = "";
        // A refused call is recorded even if its path can't be read.
        if (!observer_is_learning(observer) ||
            !read_path((pid_t)report->pid, directory, arguments[call->path], path, sizeof(path))) {
            if (answer->code == 0)
                continue;
            path[0] = 0;
        }
        if (is_valid(observer, report->id))
            record(launch, observer_is_learning(observer), answer->code != 0, answer->name, path, use);
    }
    return found;
}

void observed_record(struct observer *observer, struct launch *launch, const struct seccomp_notif *report,
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
        if (observer_is_learning(observer))
            describe_address((pid_t)report->pid, arguments, subject, sizeof(subject));
        use = "connect";
    }
    if (is_valid(observer, report->id))
        record(launch, observer_is_learning(observer), answer->code != 0, answer->name, subject, use);
}

void observed_record_refusal(struct observer *observer, struct launch *launch,
                             const struct seccomp_notif *report, const char *call, const char *subject) {
    if (is_valid(observer, report->id))
        record(launch, observer_is_learning(observer), true, call, subject, "");
}

void observed_send(struct launcher *launcher, const struct launch *launch) {
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

void observed_drop(struct launch *launch) {
    for (struct observed *seen = launch->observed, *next; seen != NULL; seen = next) {
        next = seen->next;
        free(seen->subject);
        free(seen);
    }
    launch->observed = NULL;
}
