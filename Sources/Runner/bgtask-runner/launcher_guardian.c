/* The guardian: a child of the launcher that outlives it, and then kills what is left in the host's
 * groups. */
#include "isolation.h"
#include "launcher.h"
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The descriptors of the guardian: the pipe that ends with the launcher, the host's process, the lock
 * file. */
enum { LAUNCHER, HOST, LOCK, KEPT };

/* How long the launcher has after the end of the host. It needs DRAIN_NANOSECONDS and the time to kill. */
enum { LAUNCHER_TIME_MILLISECONDS = 3000 };

/* How long a host may live on after its launcher and count as killed together with it: our choice. The next
 * launcher of a host that lives on starts so much later. */
enum { HOST_TIME_MILLISECONDS = 100 };

/* MARK: In the guardian */

/* Kills all processes in a group and in those below it, also those whose first thread has ended. */
static void kill_groups(const char *path) {
    group_kill(path);
    DIR *directory = opendir(path);
    struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char child[4096];
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
            snprintf(child, sizeof(child), "%s/%s", path, entry->d_name) < (int)sizeof(child))
            kill_groups(child);
    }
    if (directory != NULL)
        closedir(directory);
}

/* Waits for the end of the launcher, which never writes to the pipe. If the host ends, and the launcher does
 * not, then it was stopped, or waits for a process that the kernel can't kill. */
static void await_launcher(const char *groups, bool knows_host) {
    struct pollfd sources[] = {{.fd = LAUNCHER, .events = POLLIN},
                               {.fd = knows_host ? HOST : -1, .events = POLLIN}};
    int timeout = -1;
    while (sources[LAUNCHER].revents == 0) {
        int count = poll(sources, 2, timeout);
        if (count < 0 && errno != EINTR)
            _exit(71);
        if (count == 0 && timeout >= 0) {
            kill_groups(groups);
            timeout = -1;
        }
        if (sources[HOST].revents != 0) {
            sources[HOST].fd = -1;
            timeout = LAUNCHER_TIME_MILLISECONDS;
        }
    }
}

static _Noreturn void guard(const char *groups, bool knows_host, bool has_lock) {
    await_launcher(groups, knows_host);
    int64_t end = now_nanoseconds() + UNKILLABLE_AFTER_NANOSECONDS;
    // The next launcher waits for the lock, so none of its processes can be in these groups.
    do {
        kill_groups(groups);
        if (!group_is_populated(groups))
            break;
        poll(NULL, 0, 5); // the kernel does not report that a group is empty
    } while (now_nanoseconds() < end);
    // The launcher would have noted the end of the host so. Who kills both kills one after the other.
    struct pollfd host = {.fd = HOST, .events = POLLIN};
    if (has_lock && knows_host && poll(&host, 1, HOST_TIME_MILLISECONDS) > 0)
        futimens(LOCK, NULL);
    _exit(0);
}

/* Turns the new process into the guardian. */
static _Noreturn void become_guardian(const struct launcher *launcher, int launcher_end) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, "bgtask-guardian");
    bool knows_host = launcher->host_process >= 0, has_lock = launcher->lock >= 0;
    // The lock belongs to the open file, which both processes have. It ends with the second of them.
    int kept[KEPT] = {launcher_end, knows_host ? launcher->host_process : launcher_end,
                      has_lock ? launcher->lock : launcher_end};
    if (chdir("/") != 0 || !isolation_arrange_descriptors(kept, KEPT))
        _exit(71);
    guard(launcher->groups, knows_host, has_lock);
}

/* MARK: In the launcher */

/* Opens the process that made the host's socket; -1 if it is in another PID namespace. */
static int open_host(int socket) {
    struct ucred host;
    socklen_t size = sizeof(host);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &host, &size) != 0 || host.pid <= 0)
        return -1;
    return (int)syscall(SYS_pidfd_open, host.pid, 0);
}

bool guardian_start(struct launcher *launcher) {
    int pipe[2];
    if (launcher->groups == NULL)
        return true;
    if (launcher->host_process < 0)
        launcher->host_process = open_host(launcher->outbox.socket);
    if (pipe2(pipe, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        close(pipe[1]);
        become_guardian(launcher, pipe[0]);
    }
    int code = errno;
    close(pipe[0]);
    if (pid < 0)
        close(pipe[1]);
    errno = code;
    if (pid < 0)
        return false;
    launcher->guardian = pid;
    launcher->guardian_pipe = pipe[1];
    return true;
}

void guardian_reap(struct launcher *launcher) {
    int status;
    if (launcher->guardian == 0 || waitpid(launcher->guardian, &status, WNOHANG) != launcher->guardian)
        return;
    launcher->guardian = 0;
    close_descriptor(&launcher->guardian_pipe);
    // A guardian that a signal ended is replaced. One that ended by itself could not do its work, and
    // another one could not either.
    bool is_replaced = WIFSIGNALED(status) && !launcher->draining && guardian_start(launcher);
    if (!is_replaced && !launcher->draining)
        fprintf(stderr,
                "bgtask-runner launcher: the process that ends what a killed launcher leaves has ended (wait "
                "status %d), and there is no other one\n",
                status);
}

void guardian_dismiss(struct launcher *launcher) {
    if (launcher->guardian != 0)
        kill(launcher->guardian, SIGKILL); // before its pipe ends; it is not reaped yet
    launcher->guardian = 0;
    close_descriptor(&launcher->guardian_pipe);
}
