/* Does one bad thing, which the last label of the task's identifier selects. The environment variable
   MISBEHAVE selects a fault of the constructor, which runs when the plugin is loaded. */
#include "bgtask.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bgtask_task *the_task;
static const bgtask_host *the_host;

static _Noreturn void hang(void) {
    for (;;)
        pause();
}

static _Noreturn void spin(void) {
    for (volatile unsigned count = 0;; count++)
        continue;
}

__attribute__((constructor)) static void at_load(void) {
    const char *what = getenv("MISBEHAVE");
    if (what == NULL)
        return;
    if (strcmp(what, "constructor-crash") == 0)
        raise(SIGSEGV);
    if (strcmp(what, "constructor-exit") == 0)
        _exit(3);
    if (strcmp(what, "constructor-hang") == 0)
        hang();
}

static void crash_at_exit(void) {
    raise(SIGSEGV);
}

static void expire_false(bgtask_task *task, const bgtask_expiration *expiration, void *context) {
    (void)context;
    the_host->complete(task, 0, expiration->reason);
}

static void expire_true(bgtask_task *task, const bgtask_expiration *expiration, void *context) {
    (void)expiration;
    (void)context;
    the_host->complete(task, 1, "in time");
}

static void expire_hang(bgtask_task *task, const bgtask_expiration *expiration, void *context) {
    (void)task;
    (void)expiration;
    (void)context;
    hang();
}

static void expire_crash(bgtask_task *task, const bgtask_expiration *expiration, void *context) {
    (void)task;
    (void)expiration;
    (void)context;
    abort();
}

static void write_all(int descriptor, const void *bytes, size_t size) {
    while (size > 0) {
        ssize_t written = write(descriptor, bytes, size);
        if (written <= 0)
            return;
        bytes = (const char *)bytes + written;
        size -= (size_t)written;
    }
}

/* Uses CPU time in two generations of processes that leave the session. */
static void spin_in_grandchildren(void) {
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
            setsid();
            if (fork() == 0)
                spin();
            _exit(0);
        }
    }
    hang();
}

static void daemonise(void) {
    pid_t child = fork();
    if (child == 0) {
        setsid();
        signal(SIGTERM, SIG_IGN);
        if (fork() == 0)
            hang();
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void flood_report(void) {
    for (long count = 0; count < 400000; count++)
        the_host->progress(the_task, count, 400000, "busy");
    the_host->complete(the_task, 1, NULL);
}

static void flood_log(void) {
    char line[1001];
    memset(line, 'x', sizeof line - 1);
    line[1000] = 0;
    for (int count = 0; count < 5000; count++)
        the_host->log(the_task, BGTASK_LOG_INFO, line);
    the_host->complete(the_task, 1, NULL);
}

static void flood_output(int descriptor) {
    char line[1024];
    memset(line, 'y', sizeof line);
    line[1023] = '\n';
    for (int count = 0; count < 5000; count++)
        write_all(descriptor, line, sizeof line);
    the_host->complete(the_task, 1, NULL);
}

/* Ends with a pipe full of empty lines. */
static void leave_lines(void) {
    char lines[65536];
    memset(lines, '\n', sizeof lines);
    write_all(1, lines, sizeof lines);
    the_host->complete(the_task, 1, NULL);
    _exit(0);
}

/* Ends its standard output while the host reads, and opens it again before the host has read all. */
static void reopen_output(void) {
    char lines[65536];
    for (size_t at = 0; at < sizeof lines; at++)
        lines[at] = at % 16 == 15 ? '\n' : 'z';
    int reader = open("/proc/self/fd/1", O_RDONLY | O_NONBLOCK);
    write_all(1, lines, sizeof lines);
    close(1);
    usleep(10000);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", reader);
    int writer = open(path, O_WRONLY);
    // The host reads everything, and must then wait.
    int left = 1;
    while (ioctl(reader, FIONREAD, &left) == 0 && left > 0)
        usleep(1000);
    usleep(50000);
    write_all(writer, "after\n", 6);
    the_host->complete(the_task, 1, NULL);
}

static void use_memory(void) {
    for (;;) {
        char *block = malloc(16 << 20);
        if (block != NULL)
            memset(block, 1, 16 << 20);
        usleep(20000);
    }
}

static int read_nothing(const volatile int *place) {
    return *place;
}

static __attribute__((noinline)) int go_deeper(volatile int depth) {
    volatile char block[4096];
    block[0] = (char)depth;
    return depth < 0 ? block[0] : go_deeper(depth + 1) + block[0];
}

static pthread_barrier_t workers_ready;

static void *wait_for_ever(void *context) {
    (void)context;
    pthread_barrier_wait(&workers_ready);
    hang();
}

/* How many threads of this process sleep, as the kernel says. */
static int sleeping_threads(void) {
    int count = 0;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *thread; threads != NULL && (thread = readdir(threads)) != NULL;) {
        char path[300], line[512] = "";
        snprintf(path, sizeof(path), "/proc/self/task/%s/stat", thread->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        const char *name_end = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
        count += name_end != NULL && strncmp(name_end, ") S", 3) == 0;
        fclose(file);
    }
    if (threads != NULL)
        closedir(threads);
    return count;
}

/* Crashes on another thread when all others sleep: the main thread, two more, and the runner's own. */
static void *crash_beside(void *context) {
    pthread_barrier_wait(&workers_ready);
    while (sleeping_threads() < 4)
        sched_yield();
    *(int *)context = read_nothing((const volatile int *)16);
    return NULL;
}

static void crash_on_a_thread(void) {
    pthread_t thread;
    int result;
    pthread_barrier_init(&workers_ready, NULL, 3);
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    pthread_create(&thread, NULL, crash_beside, &result);
    hang();
}

static __attribute__((noinline)) void begin_flush(void) {
    uint64_t assertion;
    the_host->begin_assertion(the_task, "flush", &assertion);
}

static void leak_assertions(int count) {
    while (count-- > 0)
        begin_flush();
}

static void run(bgtask_task *task, const bgtask_host *host) {
    the_task = task;
    the_host = host;
    const char *identifier = host->launch(task)->identifier;
    const char *dot = strrchr(identifier, '.');
    const char *what = dot == NULL ? identifier : dot + 1;

    if (strcmp(what, "succeeds") == 0) {
        host->progress(task, 3, 10, "well");
        puts("hello\033[31m");
        host->complete(task, 1, "fine");
    } else if (strcmp(what, "faults") == 0) {
        host->fault(task, "0x8badf00d", "an assertion leaked\nflush, 31 s");
        host->fault(task, "0x0", "not the first");
        abort();
    } else if (strcmp(what, "faults-at-the-end") == 0) {
        host->set_expiration_handler(task, expire_false, NULL);
        host->complete(task, 1, "fine");
        host->fault(task, "NSInternalInconsistencyException", "too late");
        abort();
    } else if (strcmp(what, "advises") == 0) {
        for (int i = 0; i < 150; i++)
            host->advise(task, "chatty", "a sentence with \033[31m");
        host->complete(task, 1, NULL);
    } else if (strcmp(what, "waits-for-deferral") == 0) {
        bgtask_conditions now = {.struct_size = sizeof(now)};
        host->conditions(task, &now);
        while (!now.should_defer) {
            usleep(2000);
            host->conditions(task, &now);
        }
        printf("battery %d thermal %d defer %d\n", now.battery, now.thermal, now.should_defer);
        host->complete(task, 1, NULL);
    } else if (strcmp(what, "titles") == 0) {
        for (int i = 0; i < 1000; i++)
            host->set_title(task, "one of many", NULL);
        host->set_title(task, "the last", "line\033two");
        host->complete(task, 1, NULL);
    } else if (strcmp(what, "weighs") == 0) {
        const bgtask_launch *launch = host->launch(task);
        char said[64];
        snprintf(said, sizeof said, "payload %zu, checkpoint %zu", launch->payload_length,
                 launch->checkpoint_length);
        host->complete(task, 1, said);
    } else if (strcmp(what, "fails") == 0) {
        host->complete(task, 0, "no luck");
    } else if (strcmp(what, "crashes") == 0) {
        raise(SIGSEGV);
    } else if (strcmp(what, "reads-nothing") == 0) {
        host->progress(task, 3, 10, "three");
        begin_flush();
        (void)read_nothing((const volatile int *)16);
    } else if (strcmp(what, "overflows-the-stack") == 0) {
        (void)go_deeper(0);
    } else if (strcmp(what, "crashes-on-a-thread") == 0) {
        crash_on_a_thread();
    } else if (strcmp(what, "crashes-in-a-child") == 0) {
        pid_t child = fork();
        if (child == 0)
            raise(SIGSEGV);
        int status = 0;
        waitpid(child, &status, 0);
        host->complete(task, WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, NULL);
    } else if (strcmp(what, "leaks-assertions") == 0) {
        leak_assertions(1001);
        hang();
    } else if (strcmp(what, "stalls") == 0) {
        (void)host->expiration_descriptor(task);
        host->progress(task, 1, 10, "one");
        host->log(task, BGTASK_LOG_INFO, "stalled");
        hang();
    } else if (strcmp(what, "is-slow") == 0) {
        (void)host->expiration_descriptor(task);
        host->progress(task, 1, 10, "one");
        host->log(task, BGTASK_LOG_INFO, "busy");
        spin();
    } else if (strcmp(what, "aborts") == 0) {
        abort();
    } else if (strcmp(what, "crashes-after") == 0) {
        host->complete(task, 1, NULL);
        raise(SIGSEGV);
    } else if (strcmp(what, "crashes-at-exit") == 0) {
        atexit(crash_at_exit);
        host->complete(task, 1, NULL);
    } else if (strcmp(what, "exits") == 0) {
        exit(0);
    } else if (strcmp(what, "returns") == 0) {
        return;
    } else if (strcmp(what, "no-handler") == 0) {
        hang();
    } else if (strcmp(what, "no-handler-ever") == 0) {
        host->set_expiration_handler(task, NULL, NULL);
        host->log(task, BGTASK_LOG_INFO, "listens to nothing");
        hang();
    } else if (strcmp(what, "polls") == 0) {
        while (!host->expired(task, NULL)) {
            host->log(task, BGTASK_LOG_INFO, "polls");
            usleep(200000);
        }
    } else if (strcmp(what, "folders") == 0) {
        char text[1024];
        snprintf(text, sizeof text, "%s %s", host->launch(task)->temporary_directory, getenv("HOME"));
        host->complete(task, 1, text);
    } else if (strcmp(what, "expires") == 0) {
        host->set_expiration_handler(task, expire_false, NULL);
        hang();
    } else if (strcmp(what, "completes-and-stays") == 0) {
        host->complete(task, 1, "done");
        hang();
    } else if (strcmp(what, "eats-unlinked") == 0) {
        host->set_expiration_handler(task, expire_false, NULL);
        static char block[1 << 20];
        memset(block, 1, sizeof block);
        int file = open("eaten", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        unlink("eaten");
        for (int i = 0; i < 4; i++)
            write_all(file, block, sizeof block);
        hang();
    } else if (strcmp(what, "eats-readonly") == 0) {
        // A file that only its mapping keeps, and that nobody may write to, as the host's copies.
        host->set_expiration_handler(task, expire_false, NULL);
        enum { LENGTH = 4 << 20 };
        int file = open("eaten", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (ftruncate(file, LENGTH) != 0)
            _exit(3);
        char *bytes = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (bytes == MAP_FAILED)
            _exit(3);
        memset(bytes, 1, LENGTH);
        msync(bytes, LENGTH, MS_SYNC);
        fchmod(file, 0400);
        unlink("eaten");
        close(file);
        hang();
    } else if (strcmp(what, "eats-in-flight") == 0) {
        host->set_expiration_handler(task, expire_false, NULL);
        int ends[2], file = open("eaten", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        static char large[4 << 20], byte, control[CMSG_SPACE(sizeof(int))];
        write_all(file, large, sizeof large);
        unlink("eaten");
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
            _exit(3);
        struct iovec part = {&byte, 1};
        struct msghdr message = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        *header = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(header), &file, sizeof file);
        if (sendmsg(ends[0], &message, 0) != 1)
            _exit(3);
        close(file);
        hang();
    } else if (strcmp(what, "eats-storage") == 0) {
        host->set_expiration_handler(task, expire_false, NULL);
        static char block[1 << 20];
        memset(block, 1, sizeof block);
        int file = open("eaten", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        for (int i = 0; i < 4; i++)
            if (write(file, block, sizeof block) < 0)
                _exit(3);
        close(file);
        hang();
    } else if (strcmp(what, "eats-temporary") == 0) {
        // Files that are written through a mapping, and not counted as memory of the process.
        host->set_expiration_handler(task, expire_false, NULL);
        char path[4096];
        snprintf(path, sizeof path, "%s/eaten", getenv("TMPDIR"));
        int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        enum { SIZE = 8 << 20 };
        char *memory = file < 0 || ftruncate(file, SIZE) != 0
                           ? MAP_FAILED
                           : mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory == MAP_FAILED)
            _exit(3);
        memset(memory, 1, SIZE);
        munmap(memory, SIZE);
        hang();
    } else if (strcmp(what, "expires-well") == 0) {
        host->set_expiration_handler(task, expire_true, NULL);
        hang();
    } else if (strcmp(what, "ignores") == 0) {
        (void)host->expiration_descriptor(task);
        host->log(task, BGTASK_LOG_INFO, "asked");
        hang();
    } else if (strcmp(what, "hangs-in-expiration") == 0) {
        host->set_expiration_handler(task, expire_hang, NULL);
        hang();
    } else if (strcmp(what, "crashes-in-expiration") == 0) {
        host->set_expiration_handler(task, expire_crash, NULL);
        host->log(task, BGTASK_LOG_INFO, "handled");
        hang();
    } else if (strcmp(what, "daemonises") == 0) {
        daemonise();
        host->complete(task, 1, NULL);
    } else if (strcmp(what, "forks") == 0) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        host->complete(task, child < 0, child < 0 ? "refused" : "forked");
    } else if (strcmp(what, "floods-report") == 0) {
        flood_report();
    } else if (strcmp(what, "floods-log") == 0) {
        flood_log();
    } else if (strcmp(what, "floods-stdout") == 0) {
        flood_output(1);
    } else if (strcmp(what, "leaves-lines") == 0) {
        leave_lines();
    } else if (strcmp(what, "reopens-output") == 0) {
        reopen_output();
    } else if (strcmp(what, "floods-stderr") == 0) {
        flood_output(2);
    } else if (strcmp(what, "garbage") == 0) {
        unsigned char garbage[512];
        memset(garbage, 0xA5, sizeof garbage);
        write_all(4, garbage, sizeof garbage);
        hang();
    } else if (strcmp(what, "huge-length") == 0) {
        write_all(4, "\xFF\xFF\xFF\xFF", 4);
        hang();
    } else if (strcmp(what, "closes-report") == 0) {
        close(4);
        hang();
    } else if (strcmp(what, "closes-all") == 0) {
        for (int descriptor = 0; descriptor < 64; descriptor++)
            close(descriptor);
        hang();
    } else if (strcmp(what, "closes-output") == 0) {
        close(1);
        close(2);
        host->complete(task, 1, NULL);
    } else if (strcmp(what, "spins") == 0) {
        spin();
    } else if (strcmp(what, "spins-handled") == 0) {
        host->set_expiration_handler(task, expire_false, NULL);
        spin();
    } else if (strcmp(what, "spins-profiled") == 0) {
        signal(SIGPROF, SIG_IGN);
        host->set_expiration_handler(task, expire_false, NULL);
        spin();
    } else if (strcmp(what, "spins-below") == 0) {
        spin_in_grandchildren();
    } else if (strcmp(what, "eats-memory") == 0) {
        use_memory();
    } else if (strcmp(what, "submits") == 0) {
        bgtask_request request = {.struct_size = sizeof request, .identifier = "com.example.other"};
        char why[128] = "";
        bgtask_error error = host->submit(task, &request, why, sizeof why);
        host->complete(task, error == BGTASK_NOT_PERMITTED, why);
    }
}

static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof plugin, run};

BGTASK_EXPORT const bgtask_plugin *bgtask_plugin_entry(void) {
    return &plugin;
}
