#include "probe.h"

#include "isolation.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exits with the errno of the step that failed. */
static _Noreturn void fail(void) {
    _exit(errno > 0 && errno < 128 ? errno : 71);
}

/* Waits for the child; returns its exit status, or 71 if a signal ended it. */
static int status_of(pid_t pid) {
    int status;
    pid_t reaped;
    do
        reaped = waitpid(pid, &status, 0);
    while (reaped < 0 && errno == EINTR);
    return reaped == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 71;
}

static int probe_namespace(void) {
    int status[2], pidfd;
    if (pipe2(status, O_CLOEXEC) != 0)
        fail();
    bool maps_user = geteuid() != 0;
    pid_t pid = process_clone(process_namespace_flags(), -1, &pidfd);
    if (pid < 0)
        fail();
    if (pid == 0) {
        close(status[0]);
        // The caller continues in a child of the namespace's init, as the handler of a launch does.
        if (!process_become_init(status[1], maps_user))
            fail();
        _exit(0);
    }
    close(status[1]);
    int code = status_of(pid);
    struct namespace_status report;
    if (code == 0 &&
        (read(status[0], &report, sizeof(report)) != (ssize_t)sizeof(report) || report.wait_status != 0))
        code = 71;
    return code;
}

static int probe_no_fork(void) {
    pid_t pid = fork();
    if (pid < 0)
        fail();
    if (pid == 0) {
        char finding[256];
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            !isolation_enter_task(false, finding, sizeof(finding)))
            fail();
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        // The filter must refuse the fork.
        _exit(child < 0 && errno == EPERM ? 0 : 71);
    }
    return status_of(pid);
}

int probe_main(const char *word) {
    enum isolation isolation;
    if (!isolation_parse(word, &isolation) || isolation == ISOLATION_CGROUP)
        return 64;
    return isolation == ISOLATION_PID_NAMESPACE ? probe_namespace() : probe_no_fork();
}
