/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "CLinuxProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/* Starts a program in a new session, with default signal actions and no blocked signals. `code` is the
 * result of preparing `actions`: 0, or the error number to report. Destroys `actions` in both cases. */
static pid_t spawn_in_session(const char *path, char *const arguments[], char *const environment[],
                              posix_spawn_file_actions_t *actions, int code) {
    posix_spawnattr_t attributes;
    pid_t pid = -1;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    short flags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (code == 0 && (code = posix_spawnattr_init(&attributes)) == 0) {
        if ((code = posix_spawnattr_setsigmask(&attributes, &none)) == 0 &&
            (code = posix_spawnattr_setsigdefault(&attributes, &all)) == 0 &&
            (code = posix_spawnattr_setflags(&attributes, flags)) == 0)
            code = posix_spawn(&pid, path, actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(actions);
    if (code == 0)
        return pid;
    errno = code;
    return -1;
}

pid_t lx_spawn(const char *path, char *const arguments[], char *const environment[], int descriptor) {
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) {
        errno = code;
        return -1;
    }
    /* dup2 of 3 onto itself also clears close-on-exec. */
    if ((code = posix_spawn_file_actions_adddup2(&actions, descriptor, 3)) == 0 &&
        (code = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)) == 0)
        code = posix_spawn_file_actions_addclosefrom_np(&actions, 4);
    return spawn_in_session(path, arguments, environment, &actions, code);
}

int lx_pipe(int pair[2]) {
    if (pipe2(pair, O_CLOEXEC) != 0)
        return -1;
    /* The writing end blocks, because it becomes a program's standard output. */
    return fcntl(pair[0], F_SETFL, O_NONBLOCK);
}

pid_t lx_spawn_printing(const char *path, char *const arguments[], char *const environment[], int output,
                        int errors) {
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) {
        errno = code;
        return -1;
    }
    if ((code = posix_spawn_file_actions_adddup2(&actions, output, 1)) == 0 &&
        (code = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)) == 0 &&
        (code = errors >= 0 ? posix_spawn_file_actions_adddup2(&actions, errors, 2)
                            : posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)) == 0 &&
        (code = posix_spawn_file_actions_addchdir_np(&actions, "/")) == 0)
        code = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    return spawn_in_session(path, arguments, environment, &actions, code);
}

int lx_socketpair(int pair[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
}

ssize_t lx_receive(int socket, void *buffer, size_t size, int *descriptors, int capacity, int *count) {
    union {
        char bytes[CMSG_SPACE(16 * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec piece = {.iov_base = buffer, .iov_len = size};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    *count = 0;
    ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (received < 0)
        return -1;
    int refused = (message.msg_flags & MSG_CTRUNC) != 0;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        size_t found = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < found; index++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(part) + index * sizeof(int), sizeof descriptor);
            if (*count < capacity) {
                descriptors[(*count)++] = descriptor;
            } else {
                close(descriptor);
                refused = 1;
            }
        }
    }
    if (!refused)
        return received;
    while (*count > 0)
        close(descriptors[--*count]);
    errno = EMFILE;
    return -1;
}

ssize_t lx_send(int socket, const void *bytes, size_t size) {
    return send(socket, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t lx_send_waiting(int socket, const void *bytes, size_t size) {
    return send(socket, bytes, size, MSG_NOSIGNAL);
}

ssize_t lx_send_descriptor(int socket, const void *bytes, size_t size, int descriptor) {
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    memset(&control, 0, sizeof control);
    struct iovec piece = {.iov_base = (void *)bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(part), &descriptor, sizeof(int));
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

int lx_reap(int pidfd, int *status) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    if (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, WEXITED) != 0)
        return -1;
    *status = info.si_code == CLD_EXITED ? (info.si_status & 0xFF) << 8
                                         : (info.si_status & 0x7F) | (info.si_code == CLD_DUMPED ? 0x80 : 0);
    return 0;
}

int lx_wait_for_pause(int pidfd) {
    for (;;) {
        siginfo_t info;
        memset(&info, 0, sizeof info);
        // WNOWAIT leaves an end to lx_reap. A pause is taken below, or the next call would return it again.
        if (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, WSTOPPED | WCONTINUED | WEXITED | WNOWAIT) != 0) {
            if (errno == EINTR)
                continue;
            return 0;
        }
        if (info.si_code != CLD_STOPPED && info.si_code != CLD_CONTINUED)
            return 0;
        memset(&info, 0, sizeof info);
        if (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, WSTOPPED | WCONTINUED | WNOHANG) != 0)
            return 0;
        if (info.si_code == CLD_STOPPED)
            return 1;
        if (info.si_code == CLD_CONTINUED)
            return 2;
    }
}

int lx_core_count(void) {
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0)
        return 1;
    int count = CPU_COUNT(&cores);
    return count > 0 ? count : 1;
}

int lx_landlock_version(void) {
    /* landlock_create_ruleset with LANDLOCK_CREATE_RULESET_VERSION; older headers lack both. */
    long version = syscall(444, NULL, 0, 1U);
    return version > 0 ? (int)version : 0;
}

/* Some supported releases lack linux/ioprio.h in their kernel headers. These numbers belong to the
 * kernel's ABI. */
enum {
    IOPRIO_TARGET_PROCESS = 1,
    IOPRIO_BEST_EFFORT = 2,
    IOPRIO_IDLE = 3,
    IOPRIO_CLASS_SHIFT = 13,
    IOPRIO_MIDDLE = 4
};

void lx_set_thread_priority(pid_t thread, int nice_value, int is_batch, int is_idle_io) {
    struct sched_param parameters = {.sched_priority = 0};
    (void)sched_setscheduler(thread, is_batch ? SCHED_BATCH : SCHED_OTHER, &parameters);
    (void)setpriority(PRIO_PROCESS, (id_t)thread, nice_value);
    int priority = is_idle_io ? IOPRIO_IDLE << IOPRIO_CLASS_SHIFT
                              : (IOPRIO_BEST_EFFORT << IOPRIO_CLASS_SHIFT) | IOPRIO_MIDDLE;
    (void)syscall(SYS_ioprio_set, IOPRIO_TARGET_PROCESS, thread, priority);
}

/* The names that reports show for the system calls in which a thread may wait, or that it often makes. Other
 * architectures lack some of the calls. */
#define NAME(call)                                                                                           \
    { SYS_##call, #call }
static const struct {
    long number;
    const char *name;
} call_names[] = {
    NAME(read),
    NAME(write),
    NAME(readv),
    NAME(writev),
    NAME(pread64),
    NAME(pwrite64),
    NAME(openat),
    NAME(close),
    NAME(fsync),
    NAME(fdatasync),
    NAME(sync),
    NAME(syncfs),
    NAME(flock),
    NAME(fcntl),
    NAME(ioctl),
    NAME(ppoll),
    NAME(pselect6),
    NAME(epoll_pwait),
    NAME(nanosleep),
    NAME(clock_nanosleep),
    NAME(futex),
    NAME(rt_sigtimedwait),
    NAME(rt_sigsuspend),
    NAME(wait4),
    NAME(waitid),
    NAME(connect),
    NAME(accept),
    NAME(accept4),
    NAME(recvfrom),
    NAME(recvmsg),
    NAME(sendto),
    NAME(sendmsg),
    NAME(sendfile),
    NAME(splice),
    NAME(copy_file_range),
    NAME(fallocate),
    NAME(ftruncate),
    NAME(mmap),
    NAME(munmap),
    NAME(mprotect),
    NAME(madvise),
    NAME(msync),
    NAME(brk),
    NAME(getdents64),
    NAME(newfstatat),
    NAME(statx),
    NAME(unlinkat),
    NAME(renameat2),
    NAME(getrandom),
    NAME(semtimedop),
    NAME(msgrcv),
    NAME(msgsnd),
    NAME(io_getevents),
    NAME(io_uring_enter),
    NAME(execve),
    NAME(exit_group),
    NAME(tgkill),
    NAME(restart_syscall),
#if defined(__x86_64__)
    NAME(open),
    NAME(stat),
    NAME(lstat),
    NAME(poll),
    NAME(select),
    NAME(epoll_wait),
    NAME(pause),
    NAME(unlink),
    NAME(rename),
    NAME(mkdir),
#endif
};
#undef NAME

const char *lx_system_call_name(long number) {
    for (size_t i = 0; i < sizeof(call_names) / sizeof(call_names[0]); i++)
        if (call_names[i].number == number)
            return call_names[i].name;
    return NULL;
}

int lx_open_inherited_clock(pid_t thread) {
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attributes),
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .inherit = 1,
        .exclude_kernel = 1, // the counter counts that time, too, but without this bit it needs a privilege
        .exclude_hv = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}
