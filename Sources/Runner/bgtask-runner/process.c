#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int64_t now_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

bool is_shortage(int code) {
    // The last two come from sockets: no memory, or too many descriptors of the user are under way.
    return code == EAGAIN || code == ENOMEM || code == EMFILE || code == ENFILE || code == ENOSPC ||
           code == EDQUOT || code == ENOBUFS || code == ETOOMANYREFS;
}

/* MARK: Clone */

/* Returns the address of the variable in which glibc keeps the calling thread's id; NULL if it is not
 * known.
 *
 * glibc's fork updates the variable, but clone3 does not. A task with the id of its template could lock
 * mutexes in the name of another thread. glibc registers the variable's address with the kernel, and prctl
 * returns it. */
static pid_t *thread_id_word(void) {
    pid_t *word = NULL;
    if (prctl(PR_GET_TID_ADDRESS, &word) != 0 || word == NULL || *word != gettid())
        return NULL;
    return word;
}

bool process_clone_is_complete(void) {
    return thread_id_word() != NULL;
}

bool process_has_clone3(void) {
    // A size of 0 is an error that only clone3 itself finds.
    return syscall(SYS_clone3, NULL, 0) < 0 && errno != ENOSYS;
}

/* Called in a child that was cloned outside its group: waits until the parent has moved it. If that fails,
 * the child exits. */
static void wait_to_be_moved(const int *gate) {
    char word;
    ssize_t count;
    close(gate[1]);
    do
        count = read(gate[0], &word, 1);
    while (count < 0 && errno == EINTR);
    if (count != 1)
        _exit(71);
    close(gate[0]);
}

/* Moves a process into a group. */
static bool move(pid_t pid, int cgroup) {
    char text[32];
    int length = snprintf(text, sizeof(text), "%d", pid);
    int file = openat(cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t written = write(file, text, (size_t)length);
    int code = errno;
    close(file);
    errno = code;
    return written == length;
}

/* Clones without clone3. CLONE_INTO_CGROUP is then not available, so the child waits until it was moved
 * into its group. */
static pid_t clone_without_clone3(uint64_t flags, int cgroup, int *pidfd, pid_t *word) {
    int gate[2] = {-1, -1};
    if (cgroup >= 0 && pipe2(gate, O_CLOEXEC) < 0)
        return -1;
    flags = (flags & ~(uint64_t)CLONE_INTO_CGROUP) | SIGCHLD;
#ifdef __x86_64__
    pid_t pid = (pid_t)syscall(SYS_clone, flags, NULL, pidfd, word, NULL);
#else
    pid_t pid = (pid_t)syscall(SYS_clone, flags, NULL, pidfd, NULL, word);
#endif
    if (cgroup < 0)
        return pid;
    if (pid == 0) {
        wait_to_be_moved(gate);
        return 0;
    }
    int code = errno;
    close(gate[0]);
    if (pid > 0 && !(move(pid, cgroup) && write(gate[1], "", 1) == 1)) {
        // The child exits when the pipe closes. The launcher then reaps it as an orphan.
        code = errno;
        pid = -1;
        close(*pidfd);
        *pidfd = -1;
    }
    close(gate[1]);
    errno = code;
    return pid;
}

pid_t process_clone(uint64_t flags, int cgroup, int *pidfd) {
    pid_t *word = thread_id_word();
    void *robust_list = NULL;
    size_t robust_size = 0;
    syscall(SYS_get_robust_list, 0, &robust_list, &robust_size);
    *pidfd = -1;
    struct clone_args arguments = {
        .flags = flags | CLONE_PIDFD,
        .pidfd = (uint64_t)(uintptr_t)pidfd,
        // With CLONE_PARENT, the kernel reports the child's end with the signal of the calling process,
        // the template: SIGCHLD. Setting a signal is then an error.
        .exit_signal = (flags & CLONE_PARENT) != 0 ? 0 : SIGCHLD,
    };
    if (word != NULL) {
        arguments.flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
        arguments.child_tid = (uint64_t)(uintptr_t)word;
    }
    if (cgroup >= 0) {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = (uint64_t)cgroup;
    }
    long pid = syscall(SYS_clone3, &arguments, sizeof(arguments));
    if (pid < 0 && errno == ENOSYS)
        pid = clone_without_clone3(arguments.flags, cgroup, pidfd, word);
    // The kernel can have stored a number that it closed again, for example at a limit of processes.
    if (pid < 0)
        *pidfd = -1;
    if (pid == 0 && robust_list != NULL)
        syscall(SYS_set_robust_list, robust_list, robust_size);
    return (pid_t)pid;
}

/* MARK: PID namespace */

uint64_t process_namespace_flags(void) {
    return CLONE_NEWPID | CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER);
}

static bool write_file(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t written = write(file, text, strlen(text));
    int code = errno;
    close(file);
    errno = code;
    return written == (ssize_t)strlen(text);
}

bool process_map(uid_t user, uid_t outside, gid_t group, gid_t group_outside) {
    char map[64];
    snprintf(map, sizeof(map), "%u %u 1", user, outside);
    if (!write_file("/proc/self/uid_map", map) || !write_file("/proc/self/setgroups", "deny"))
        return false;
    snprintf(map, sizeof(map), "%u %u 1", group, group_outside);
    return write_file("/proc/self/gid_map", map);
}

/* The main function of the namespace's init: reaps until the handler ends, then kills and counts the
 * remaining processes. */
static _Noreturn void keep_namespace(pid_t handler, int status) {
    // The handler runs as the same user, and must not be able to trace this process.
    prctl(PR_SET_DUMPABLE, 0);
    if (status != 3) {
        dup3(status, 3, O_CLOEXEC);
        status = 3;
    }
    for (int descriptor = 0; descriptor < 3; descriptor++)
        close(descriptor);
    close_range(4, ~0u, 0);

    struct namespace_status report = {0};
    for (pid_t reaped = 0; reaped != handler;) {
        int wait_status;
        reaped = waitpid(-1, &wait_status, 0);
        if (reaped == handler)
            report.wait_status = wait_status;
        else if (reaped < 0 && errno != EINTR)
            break;
    }
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue; // ended before the kill, so they do not count
    kill(-1, SIGKILL);
    for (;;) {
        pid_t reaped = waitpid(-1, NULL, 0);
        if (reaped > 0)
            report.leftovers++;
        else if (errno != EINTR)
            break;
    }
    _exit(write(status, &report, sizeof(report)) == sizeof(report) ? 0 : 70);
}

bool process_become_init(int status, bool maps_user) {
    // Until the ids are mapped, geteuid returns that of "nobody". The auxiliary vector still has the ids from
    // the last exec.
    uid_t user = (uid_t)getauxval(AT_EUID);
    gid_t group = (gid_t)getauxval(AT_EGID);
    if (maps_user && !process_map(user, user, group, group))
        return false;
    // Mount a new /proc, because libdispatch looks up its threads there and traps if it cannot find them.
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
        return false;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid_t handler = fork();
    if (handler > 0)
        keep_namespace(handler, status);
    return handler == 0;
}
