/* Uses files, programs and sockets, as the last label of the identifier says. The environment names the
 * files: USE_READ and USE_WRITE, which the manifest grants, and USE_SECRET, which it does not grant. */
#include "fixture.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path(const char *name) {
    const char *value = getenv(name);
    return value != NULL ? value : "";
}

static void touch(const char *path, int flags) {
    int file = open(path, flags | O_CLOEXEC, 0600);
    if (file >= 0)
        close(file);
}

static void use_files(void) {
    char made[4096];
    touch(path("USE_READ"), O_RDONLY);
    touch(path("USE_READ"), O_RDONLY);
    snprintf(made, sizeof made, "%s/made", path("USE_WRITE"));
    touch(made, O_WRONLY | O_CREAT);
    unlink(made);
    touch("mine", O_WRONLY | O_CREAT);
    touch("/etc/no-such-file", O_RDONLY);
    // Relative to the working directory, which is the task's own.
    int directory = open(path("USE_WRITE"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mkdirat(directory, "below", 0700);
    unlinkat(directory, "below", AT_REMOVEDIR);
    close(directory);
}

/* What changes a directory without an open file. */
static void use_attributes(void) {
    char made[4096];
    snprintf(made, sizeof made, "%s/fifo", path("USE_WRITE"));
    mkfifo(made, 0600);
    snprintf(made, sizeof made, "%s/file", path("USE_WRITE"));
    chmod(made, 0640);
}

/* Different long paths, which the kernel rejects or does not find. */
static void use_long_paths(void) {
    static char long_path[1000];
    for (int i = 0; i < 400; i++) {
        memset(long_path, 'x', sizeof long_path - 1);
        memcpy(long_path, "/etc/", 5);
        for (size_t at = 100; at < sizeof long_path - 1; at += 100)
            long_path[at] = '/';
        snprintf(long_path + 5, 5, "%04d", i);
        long_path[9] = 'x';
        touch(long_path, O_WRONLY);
    }
}

static void use_secret(void) {
    touch(path("USE_SECRET"), O_RDONLY);
    touch(path("USE_SECRET"), O_WRONLY);
}

static void use_program(void) {
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/cat", "cat", path("USE_SECRET"), NULL);
        _exit(9);
    }
    int status;
    waitpid(child, &status, 0);
}

static void use_sockets(int count) {
    for (int i = 0; i < count; i++) {
        int file = socket(AF_INET, SOCK_STREAM, 0);
        if (file >= 0)
            close(file);
    }
}

static void use_ports(void) {
    static const int ports[] = {1, 2};
    for (int i = 0; i < 2; i++) {
        int file = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)ports[i])};
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (connect(file, (struct sockaddr *)&address, sizeof address) == 0)
            close(file);
        close(file);
    }
}

/* Signals to process 1, to all processes, and to this task and its child. Signal 0 does no harm if nothing
 * refuses it. */
static void use_signals(void) {
    siginfo_t information = {.si_code = SI_QUEUE};
    kill(1, 0);
    kill(1, 0);
    syscall(SYS_tgkill, 1, 1, 0);
    syscall(SYS_rt_sigqueueinfo, 1, 0, &information);
    int file = (int)syscall(SYS_pidfd_open, 1, 0);
    if (file >= 0)
        syscall(SYS_pidfd_send_signal, file, 0, NULL, 0);
    kill(-1, 0);
    // What a task may do.
    signal(SIGTERM, SIG_IGN);
    if (kill(getpid(), SIGTERM) != 0 || kill(getpid(), SIGURG) != 0 || raise(SIGTERM) != 0 ||
        raise(SIGURG) != 0 || syscall(SYS_tgkill, getpid(), getpid(), 0) != 0)
        abort();
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    if (child > 0 && (kill(child, SIGKILL) != 0 || waitpid(child, NULL, 0) != child))
        abort();
}

static pid_t task_process;

/* 40 processes, each the child of the one before. The last two send signals to themselves and to their
 * parents. */
static void signal_in_tree(void) {
    pid_t child = 0;
    for (int level = 0; level < 40 && child == 0; level++)
        child = fork();
    if (child != 0) {
        waitpid(child, NULL, 0);
        if (getpid() != task_process)
            _exit(0);
        return;
    }
    child = fork();
    for (int i = 0; i < 100; i++)
        if (kill(getpid(), 0) != 0 || kill(getppid(), 0) != 0)
            break;
    if (child > 0)
        waitpid(child, NULL, 0);
    _exit(0);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    const char *label = strrchr(host->launch(task)->identifier, '.') + 1;
    if (strcmp(label, "files") == 0)
        use_files();
    if (strcmp(label, "secret") == 0 || strcmp(label, "fails") == 0)
        use_secret();
    if (strcmp(label, "signals") == 0)
        use_signals();
    task_process = getpid();
    if (strcmp(label, "tree") == 0)
        signal_in_tree();
    if (strcmp(label, "attributes") == 0)
        use_attributes();
    if (strcmp(label, "program") == 0)
        use_program();
    if (strcmp(label, "sockets") == 0 || strcmp(label, "fails") == 0)
        use_sockets(3);
    if (strcmp(label, "storm") == 0)
        use_sockets(2500);
    if (strcmp(label, "long-paths") == 0)
        use_long_paths();
    if (strcmp(label, "ports") == 0)
        use_ports();
    host->complete(task, strcmp(label, "fails") != 0, "done");
}
