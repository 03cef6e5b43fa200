/* Tries everything that a sandbox must refuse, and reports what it got: "nothing", or the names of the
 * attempts that succeeded. The last label of the identifier selects a group of attempts, or "all". The
 * environment names the victims: files, a process, a port and a segment of shared memory. */
#include "fixture.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char got[3000];

/* Notes that an attempt succeeded. */
static void note(int succeeded, const char *format, ...) {
    if (!succeeded)
        return;
    size_t length = strlen(got);
    va_list arguments;
    va_start(arguments, format);
    if (length > 0 && length + 2 < sizeof got)
        strcat(got, " ");
    vsnprintf(got + strlen(got), sizeof got - strlen(got), format, arguments);
    va_end(arguments);
}

static const char *victim(const char *name) {
    const char *value = getenv(name);
    return value != NULL ? value : "";
}

static pid_t victim_process(void) {
    return (pid_t)atoi(victim("VICTIM_PROCESS"));
}

/* Whether a path can be opened. */
static int opens(const char *path, int flags) {
    int file = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0600);
    if (file < 0)
        return 0;
    char byte;
    int done = (flags & O_ACCMODE) != O_RDONLY || (flags & O_DIRECTORY) || read(file, &byte, 1) >= 0;
    close(file);
    return done;
}

static void files(void) {
    const char *secret = victim("VICTIM_FILE");
    char path[4096];
    note(opens(secret, O_RDONLY), "read-secret");
    note(opens(secret, O_WRONLY), "write-secret");
    note(opens("/etc/passwd", O_RDONLY), "read-passwd");
    note(opens("/etc/shadow", O_RDONLY), "read-shadow");
    note(opens("/root", O_RDONLY | O_DIRECTORY), "list-root");
    note(opens("/", O_RDONLY | O_DIRECTORY), "list-top");
    note(opens("/tmp", O_RDONLY | O_DIRECTORY), "list-tmp");
    snprintf(path, sizeof path, "%s.new", secret);
    note(opens(path, O_WRONLY | O_CREAT), "create-beside-secret");
    note(opens("/tmp/hostile-made-this", O_WRONLY | O_CREAT), "create-in-tmp");
    note(opens("/dev/shm/hostile-made-this", O_WRONLY | O_CREAT), "create-in-shm");
    note(opens(victim("VICTIM_LIBRARY"), O_WRONLY), "write-own-library");
    note(unlink(secret) == 0, "unlink-secret");
    note(truncate(secret, 0) == 0, "truncate-secret");
    // Links in the task's own directory do not lead out of it.
    unlink("way-out");
    note(symlink(secret, "way-out") == 0 && opens("way-out", O_RDONLY), "symlink");
    unlink("way-out");
    note(link(secret, "way-out") == 0, "hard-link");
    note(rename(secret, "way-out") == 0, "rename");
    snprintf(path, sizeof path, "/proc/self/root%s", secret);
    note(opens(path, O_RDONLY), "proc-root");
    int own = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    note(own < 0, "own-directory-closed");
    note(openat(own, "../..", O_RDONLY | O_DIRECTORY) >= 0, "dot-dot");
    // The task's own directory works.
    note(!opens("mine", O_WRONLY | O_CREAT), "own-directory-read-only");
    note(!opens("/dev/urandom", O_RDONLY), "random-closed");
    note(!opens("/proc/self/stat", O_RDONLY), "proc-closed");
}

static void attributes(void) {
    const char *secret = victim("VICTIM_FILE");
    note(chmod(secret, 0666) == 0, "chmod-secret");
    note(fchmodat(AT_FDCWD, secret, 0666, 0) == 0, "fchmodat-secret");
    note(syscall(452, AT_FDCWD, secret, 0666, 0) == 0, "fchmodat2-secret");
    note(chown(secret, getuid(), getgid()) == 0, "chown-secret");
    note(utimensat(AT_FDCWD, secret, NULL, 0) == 0, "touch-secret");
    note(syscall(SYS_setxattr, secret, "user.hostile", "1", 1, 0) == 0, "setxattr-secret");
    note(chmod(victim("VICTIM_LIBRARY"), 0777) == 0, "chmod-own-library");
    int own = open("set-id", O_CREAT | O_RDWR | O_CLOEXEC, 0700);
    note(own < 0, "own-directory-closed");
    note(fchmod(own, 04700) == 0, "set-user-id");
    note(fchmod(own, 02700) == 0, "set-group-id");
    close(own);
    own = open("set-id-at-once", O_CREAT | O_RDWR | O_CLOEXEC, 04700);
    note(own >= 0, "set-user-id-at-once");
    if (own >= 0)
        close(own);
}

/* What only read-only mounts refuse: the attributes of a file that the task may read and its user owns. */
static void readable_attributes(void) {
    int file = open(victim("VICTIM_READABLE"), O_RDONLY | O_CLOEXEC);
    note(file < 0, "granted-file-closed");
    note(file >= 0 && fchmod(file, 0666) == 0, "fchmod-readable");
    if (file >= 0)
        close(file);
}

static void devices(void) {
    static const char *const paths[] = {"/dev/mem",   "/dev/kmsg",       "/dev/tty",     "/dev/ptmx",
                                        "/dev/vda",   "/dev/sda",        "/dev/nvme0n1", "/dev/loop-control",
                                        "/dev/loop0", "/dev/kvm",        "/dev/fuse",    "/dev/net/tun",
                                        "/dev/vsock", "/dev/vhost-vsock"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        note(opens(paths[i], O_RDWR) || opens(paths[i], O_RDONLY), "%s", paths[i]);
    note(mknod("node", S_IFBLK | 0600, 0xfe00) == 0, "mknod-block");
    note(mknod("node", S_IFCHR | 0600, 0x101) == 0, "mknod-character");
    note(opens("/sys/kernel/mm/transparent_hugepage/enabled", O_WRONLY), "write-sys");
    note(opens("/proc/sys/kernel/core_pattern", O_WRONLY), "write-core-pattern");
    note(opens("/proc/sys/kernel/hostname", O_WRONLY), "write-proc-sys");
    note(opens("/proc/sysrq-trigger", O_WRONLY), "sysrq");
    note(opens("/proc/kcore", O_RDONLY), "kcore");
    note(opens("/proc/self/oom_score_adj", O_WRONLY), "oom-score");
    note(opens("/sys/fs/cgroup/cgroup.procs", O_WRONLY), "cgroup");
    note(opens("/sys/fs/cgroup/unified/cgroup.procs", O_WRONLY), "cgroup-unified");
}

static void sockets(void) {
    for (int family = 0; family < 46; family++)
        for (int type = 1; type <= 5; type++) {
            int file = socket(family, type, 0);
            note(file >= 0, "socket-%d-%d", family, type);
            if (file >= 0)
                close(file);
        }
    note(socket(AF_INET, SOCK_STREAM, 262) >= 0, "mptcp");
    note(socket(AF_NETLINK, SOCK_RAW, 16) >= 0, "generic-netlink");
    int pair[2];
    note(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0, "datagram-pair");
    note(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "stream-pair");
    char parameters[256] = {0};
    note(syscall(SYS_io_uring_setup, 4, parameters) >= 0, "io_uring");
    for (int file = 0; file < 1024; file++) {
        struct stat status;
        note(fstat(file, &status) == 0 && S_ISSOCK(status.st_mode), "inherited-socket-%d", file);
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", victim("VICTIM_SOCKET"));
    for (int file = 0; file < 16; file++)
        note(connect(file, (struct sockaddr *)&address, sizeof address) == 0, "connect-%d", file);
}

/* Whether the machine's list of connections shows the victim's port. */
static void connections(void) {
    FILE *list = fopen("/proc/self/net/tcp", "re");
    char line[512], port[16];
    snprintf(port, sizeof port, ":%04X ", (unsigned)atoi(victim("VICTIM_PORT")));
    while (list != NULL && fgets(line, sizeof line, list) != NULL)
        note(strstr(line, port) != NULL, "machine-connections");
    if (list != NULL)
        fclose(list);
}

/* With `network: {connect: [1]}`: what must still be refused. */
static void ports(void) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(victim("VICTIM_PORT")))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    note(file < 0, "no-tcp-socket");
    note(connect(file, (struct sockaddr *)&address, sizeof address) == 0, "connect-port");
    note(sendto(file, "", 1, MSG_FASTOPEN, (struct sockaddr *)&address, sizeof address) >= 0, "fast-open");
    note(socket(AF_INET, SOCK_STREAM, 262) >= 0, "mptcp");
    note(socket(AF_INET, SOCK_DGRAM, 0) >= 0, "udp");
    note(socket(AF_UNIX, SOCK_STREAM, 0) >= 0, "unix");
    note(socket(AF_VSOCK, SOCK_STREAM, 0) >= 0, "vsock");
    // An upper protocol that the kernel has not loaded fails, too, but with another number.
    note(setsockopt(file, 6, 31, "smc", 4) == 0 || errno != EACCES, "upper-protocol");
    note(syscall(SYS_setsockopt, file, 6 | 1L << 32, 31 | 1L << 32, "smc", 4) == 0 || errno != EACCES,
         "upper-protocol-upper-half");
    address.sin_port = 0;
    note(bind(file, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    note(listen(file, 1) == 0, "listen");
}

static void signals(void) {
    pid_t process = victim_process(), launcher = getppid();
    note(kill(process, 0) == 0, "kill");
    note(kill(launcher, 0) == 0, "kill-parent");
    note(syscall(SYS_tgkill, process, process, 0) == 0, "tgkill");
    note(syscall(SYS_tkill, process, 0) == 0, "tkill");
    siginfo_t information = {.si_code = SI_QUEUE};
    note(syscall(SYS_rt_sigqueueinfo, process, 0, &information) == 0, "sigqueue");
    int file = (int)syscall(SYS_pidfd_open, process, 0);
    note(file >= 0 && syscall(SYS_pidfd_send_signal, file, 0, NULL, 0) == 0, "pidfd");
    // A signal by the owner of a pipe; the victim must be alive afterwards.
    int pipes[2];
    if (pipe(pipes) == 0) {
        note(fcntl(pipes[0], F_SETOWN, process) == 0, "owner");
        struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = process};
        note(fcntl(pipes[0], F_SETOWN_EX, &owner) == 0, "owner-ex");
        note(fcntl(pipes[0], F_SETSIG, SIGUSR1) == 0, "owner-signal");
        note(ioctl(pipes[0], FIOSETOWN, &process) == 0, "owner-ioctl");
        // The kernel ignores the upper half of a command; the sandbox must do so, too.
        note(syscall(SYS_fcntl, pipes[0], F_SETOWN | 1L << 32, process) == 0, "owner-upper-half");
        // A lease would keep other programs from opening a file that the task may only read.
        int library = open(victim("VICTIM_LIBRARY"), O_RDONLY | O_CLOEXEC);
        note(fcntl(library, F_SETLEASE, F_RDLCK) == 0, "lease");
        close(library);
        fcntl(pipes[0], F_SETFL, O_ASYNC);
        note(write(pipes[1], "", 1) != 1, "own-pipe-broken");
    }
}

/* With subprocesses, a task may signal all of them; without, not even its own group. */
static void everyone(void) {
    note(kill(-1, 0) == 0, "kill-everyone");
    note(kill(0, 0) == 0, "kill-group");
}

static void others(void) {
    pid_t process = victim_process();
    struct rlimit limit = {1, 1};
    note(prlimit(process, RLIMIT_NOFILE, &limit, NULL) == 0, "prlimit");
    note(prlimit(process, RLIMIT_NOFILE, NULL, &limit) == 0, "read-prlimit");
    note(setpriority(PRIO_PROCESS, (id_t)process, 19) == 0, "setpriority");
    // A user without processes: with that of the task, success would slow down all tasks of other tests.
    errno = 0;
    note(setpriority(PRIO_USER, 0x7FFFFFFE, 19) == 0 || errno == ESRCH, "setpriority-user");
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    note(sched_setaffinity(process, sizeof cpus, &cpus) == 0, "affinity");
    struct sched_param parameters = {0};
    note(sched_setscheduler(process, SCHED_IDLE, &parameters) == 0, "scheduler");
    note(syscall(SYS_ioprio_set, 1, process, 3 << 13) == 0, "ioprio");
    // The task's own limits and signals work, because language runtimes need them.
    note(prlimit(0, RLIMIT_NOFILE, NULL, &limit) != 0, "own-limit-closed");
    note(raise(0) != 0, "own-signal-closed");
}

static void memory(void) {
    pid_t process = victim_process();
    char path[64], bytes[8];
    static const char *const names[] = {"mem", "environ", "maps", "fd", "auxv", "root/etc/passwd", "cwd/."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "/proc/%d/%s", process, names[i]);
        note(opens(path, O_RDONLY), "proc-%s", names[i]);
    }
    note(ptrace(PTRACE_SEIZE, process, NULL, NULL) == 0, "ptrace");
    note(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0, "traceme");
    struct iovec own = {bytes, 1}, theirs = {(void *)(uintptr_t)0x400000, 1};
    errno = 0;
    note(process_vm_readv(process, &own, 1, &theirs, 1, 0) >= 0 || errno == EFAULT, "process_vm_readv");
    note(syscall(SYS_kcmp, getpid(), process, 0, 0, 0) >= 0, "kcmp");
    int file = (int)syscall(SYS_pidfd_open, process, 0);
    note(file >= 0 && syscall(SYS_pidfd_getfd, file, 0, 0) >= 0, "pidfd_getfd");
    struct rlimit core;
    note(getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_max != 0, "core-dump");
}

static void shared_memory(void) {
    note(shmat(atoi(victim("VICTIM_SEGMENT")), NULL, SHM_RDONLY) != (void *)-1, "shared-memory");
}

static int end_thread(void *context) {
    (void)context;
    syscall(SYS_exit, 0);
    return 0;
}

/* Descriptors of one thread alone, which no directory of its process shows. */
static void own_descriptors(void) {
    static _Alignas(16) char stack[4096];
    enum { UNSHARE = 2 };
    note(syscall(SYS_close_range, 4000, ~0u, UNSHARE) == 0, "own-descriptors");
    note(syscall(SYS_close_range, 4000, ~0u, UNSHARE | 1L << 32) == 0, "own-descriptors-upper-half");
    int flags = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_FS | CLONE_SYSVSEM;
    note(clone(end_thread, stack + sizeof stack, flags, NULL) > 0, "thread-with-own-descriptors");
    note(unshare(CLONE_FILES) == 0, "unshare-descriptors");
}

static void kernel(void) {
    char text[256] = {0};
    // Rules of Landlock are memory of the kernel that nothing counts, and keep deleted files. Programs must
    // see a kernel whose Landlock is off.
    uint64_t rules = 1;
    note(syscall(444, &rules, sizeof rules, 0) >= 0 || errno != EOPNOTSUPP, "ruleset");
    note(syscall(444, NULL, 0, 1) >= 0 || errno != EOPNOTSUPP, "ruleset-version");
    note(syscall(445, -1, 1, text, 0) >= 0 || errno != EOPNOTSUPP, "rule");
    // Few contexts of asynchronous files are there for the whole machine.
    unsigned long context = 0;
    note(syscall(SYS_io_setup, 1, &context) == 0, "asynchronous-files");
    own_descriptors();
    note(syscall(SYS_keyctl, 0, -3, 1) >= 0, "keyctl");
    note(syscall(SYS_add_key, "user", "hostile", "1", 1, -3) >= 0, "add_key");
    note(syscall(SYS_request_key, "user", "hostile", NULL, -3) >= 0, "request_key");
    note(syscall(SYS_bpf, 0, text, 48) >= 0, "bpf");
    note(syscall(SYS_perf_event_open, text, 0, -1, -1, 0) >= 0, "perf");
    note(syscall(SYS_userfaultfd, 1) >= 0, "userfaultfd");
    note(mount("none", ".", "tmpfs", 0, NULL) == 0, "mount");
    note(umount2("/proc", MNT_DETACH) == 0, "umount");
    note(unshare(CLONE_NEWUSER) == 0, "unshare-user");
    note(unshare(CLONE_NEWNS) == 0, "unshare-mount");
    note(chroot(".") == 0, "chroot");
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    note(clock_settime(CLOCK_REALTIME, &time) == 0, "clock_settime");
    note(sethostname("hostile", 7) == 0, "sethostname");
    note(syscall(SYS_syslog, 3, text, sizeof text) >= 0, "syslog");
    note(syscall(SYS_fanotify_init, 0, 0) >= 0, "fanotify");
    note(syscall(SYS_init_module, text, 1, "") == 0 || errno == ENOEXEC, "init_module");
    note(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1, "new-privileges");
}

static void capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    note(syscall(SYS_capget, &header, sets) != 0 || sets[0].permitted != 0 || sets[1].permitted != 0,
         "permitted-capabilities");
    for (int number = 0; number < 41; number++)
        note(getuid() == 0 && prctl(PR_CAPBSET_READ, number, 0, 0, 0) == 1, "bounding-%d", number);
    // A file of another user, in a directory that the manifest grants.
    note(opens(victim("VICTIM_FOREIGN"), O_RDONLY), "foreign-file");
}

static void processes(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    note(child > 0, "fork");
    child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0)
        _exit(0);
    note(child > 0, "clone");
    // An empty file is not a program; ENOEXEC means that nothing but its format was in the way.
    int file = (int)syscall(SYS_memfd_create, "program", 0);
    if (file < 0)
        file = open(getenv("TMPDIR"), O_TMPFILE | O_RDWR, 0600);
    char *none[] = {NULL};
    note(file < 0 || write(file, "hostile", 7) != 7 || fchmod(file, 0700) != 0, "no-file");
    note(syscall(SYS_execveat, file, "", none, none, AT_EMPTY_PATH) != 0 && errno == ENOEXEC, "exec");
}

/* A child in namespaces of its own, where it would have all capabilities. */
static void namespaces(void) {
    static const struct {
        const char *name;
        uint64_t flags;
    } kinds[] = {{"user", CLONE_NEWUSER},
                 {"user-mount", CLONE_NEWUSER | CLONE_NEWNS},
                 {"user-network", CLONE_NEWUSER | CLONE_NEWNET},
                 {"mount", CLONE_NEWNS},
                 {"pid", CLONE_NEWPID}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pid_t child = (pid_t)syscall(SYS_clone, kinds[i].flags | SIGCHLD, NULL, NULL, NULL, NULL);
        if (child == 0)
            _exit(0);
        note(child > 0, "clone-%s", kinds[i].name);
        struct clone_args arguments = {.flags = kinds[i].flags, .exit_signal = SIGCHLD};
        child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
        if (child == 0)
            _exit(0);
        note(child > 0, "clone3-%s", kinds[i].name);
        while (waitpid(-1, NULL, 0) > 0)
            continue;
    }
}

/* With subprocesses: signals to the template and the other tasks of the bundle, by their groups. A task's own
 * children can be signalled. */
static void siblings(void) {
    char theirs[1024], path[300];
    DIR *all = opendir("/proc");
    for (struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;) {
        pid_t process = (pid_t)atoi(entry->d_name);
        if (process <= 1 || process == getpid() || kill(process, 0) != 0)
            continue;
        snprintf(path, sizeof path, "/proc/%d/cgroup", process);
        FILE *file = fopen(path, "re");
        while (file != NULL && fgets(theirs, sizeof theirs, file) != NULL)
            if (strncmp(theirs, "0::", 3) == 0)
                note(1, "kill-%s", strtok(strrchr(theirs, '/') + 1, "\n"));
        if (file != NULL)
            fclose(file);
    }
    if (all != NULL)
        closedir(all);
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    note(child < 0 || kill(child, SIGKILL) != 0, "own-child-closed");
    waitpid(child, NULL, 0);
}

/* What only mounts refuse: files of /proc that everybody may read. */
static void kernel_files(void) {
    static const char *const paths[] = {"keys", "key-users", "kallsyms", "modules", "timer_list"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char path[64], byte;
        snprintf(path, sizeof path, "/proc/%s", paths[i]);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        note(file >= 0 && read(file, &byte, 1) == 1, "%s", paths[i]);
        if (file >= 0)
            close(file);
    }
}

/* Rules of the sandbox that a task could use for a thread of its own, and signals that are never handled. */
static void leftovers(void) {
    for (int file = 0; file < 64; file++) {
        char path[64], name[256] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        ssize_t length = readlink(path, name, sizeof name - 1);
        note(length > 0 && strstr(name, "landlock") != NULL, "ruleset-%d", file);
    }
    enum { MANY = 8192 };
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGRTMIN + 1);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    int count = 0;
    while (count < MANY && sigqueue(getpid(), SIGRTMIN + 1, (union sigval){0}) == 0)
        count++;
    note(count == MANY, "signals-without-end");
    while (sigtimedwait(&blocked, NULL, &(struct timespec){0}) > 0)
        continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    static const struct {
        const char *name;
        void (*function)(void);
        int is_always;
    } attempts[] = {{"files", files, 1},
                    {"attributes", attributes, 1},
                    {"readable-attributes", readable_attributes, 0},
                    {"devices", devices, 1},
                    {"sockets", sockets, 1},
                    {"connections", connections, 0},
                    {"ports", ports, 0},
                    {"signals", signals, 1},
                    {"everyone", everyone, 1},
                    {"others", others, 1},
                    {"memory", memory, 1},
                    {"shared-memory", shared_memory, 1},
                    {"kernel", kernel, 1},
                    {"capabilities", capabilities, 1},
                    {"processes", processes, 1},
                    {"namespaces", namespaces, 1},
                    {"siblings", siblings, 0},
                    {"kernel-files", kernel_files, 0},
                    {"leftovers", leftovers, 1}};
    const char *label = strrchr(host->launch(task)->identifier, '.') + 1;
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
        if (strcmp(label, attempts[i].name) == 0 || (strcmp(label, "all") == 0 && attempts[i].is_always))
            attempts[i].function();
    host->complete(task, 1, got[0] == 0 ? "nothing" : got);
}
