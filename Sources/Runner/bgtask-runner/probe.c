#include "probe.h"

#include "isolation.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* MARK: Layers of the sandbox */

/* Whether a restriction that was just applied holds: does what it must refuse. `parent` is a process outside
 * the sandbox. */
static bool holds(unsigned layer, pid_t parent) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    switch (layer) {
    case LAYER_NAMESPACES:
        return utimensat(AT_FDCWD, "/", NULL, 0) != 0;
    case LAYER_CAPABILITIES:
        return syscall(SYS_capget, &header, sets) == 0 && sets[0].permitted == 0 && sets[1].permitted == 0;
    case LAYER_LANDLOCK:
        return open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0;
    case LAYER_LANDLOCK_SCOPES:
        return kill(parent, 0) != 0;
    case LAYER_SECCOMP:
        return socket(AF_UNIX, SOCK_STREAM, 0) < 0 && syscall(SYS_ptrace, 0, 0, 0, 0) != 0;
    default:
        return true;
    }
}

static int probe_layer(unsigned layer) {
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid < 0)
        fail();
    if (pid > 0)
        return status_of(pid);
    char finding[512];
    struct sandbox sandbox = {.layers = layer, .listener = -1};
    if (!sandbox_enter_namespaces(&sandbox, finding, sizeof(finding)) ||
        !sandbox_drop_privileges(&sandbox, finding, sizeof(finding)) ||
        !sandbox_restrict(&sandbox, finding, sizeof(finding)))
        _exit(errno > 0 && errno < 128 ? errno : ENOSYS);
    _exit(holds(layer, parent) ? 0 : 71);
}

/* Whether this process can give files to a user, and become that user, who can then reach a directory but
 * neither signal root nor become root again. */
static int probe_user(const char *number, const char *directory) {
    pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        fail();
    if (pid > 0)
        return status_of(pid);
    char finding[512];
    struct sandbox sandbox = {.layers = LAYER_USER, .user = (uint32_t)strtoul(number, NULL, 10)};
    int file = memfd_create("probe", MFD_CLOEXEC);
    if (file < 0 || fchown(file, sandbox.user, sandbox.user) != 0)
        fail();
    if (!sandbox_drop_privileges(&sandbox, finding, sizeof(finding)) || access(directory, X_OK) != 0)
        fail();
    _exit(kill(parent, 0) != 0 && setresuid(0, 0, 0) != 0 ? 0 : 71);
}

/* Whether the kernel reports refused calls to the launcher. An old kernel does not, and neither does one
 * where a filter of a container already reports to another program. */
static int probe_reports(void) {
    pid_t pid = fork();
    if (pid < 0)
        fail();
    if (pid > 0)
        return status_of(pid);
    char finding[512];
    struct sandbox sandbox = {.layers = LAYER_SECCOMP, .observe = OBSERVE_REFUSED, .listener = -1};
    if (!sandbox_restrict(&sandbox, finding, sizeof(finding)))
        fail();
    _exit(sandbox.listener >= 0 ? 0 : EOPNOTSUPP);
}

int probe_main(int count, char **arguments) {
    enum isolation isolation;
    const char *word = arguments[0];
    unsigned layer = sandbox_layer_named(word);
    if (layer == LAYER_USER)
        return count == 3 ? probe_user(arguments[1], arguments[2]) : 64;
    if (layer != 0)
        return probe_layer(layer);
    if (strcmp(word, "reports") == 0)
        return probe_reports();
    if (!isolation_parse(word, &isolation) || isolation == ISOLATION_CGROUP)
        return 64;
    return isolation == ISOLATION_PID_NAMESPACE ? probe_namespace() : probe_no_fork();
}
