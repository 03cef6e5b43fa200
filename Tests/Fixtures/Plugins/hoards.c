/* Asks for memory that the pages of its process would not show, and reports what it got. With the label
 * "shares", it fills shared memory until it is ended; with "hides", memory that it then has not mapped; with
 * "crowds", it does the same behind 17,000 mappings of one file without a name; with "spreads", it fills page
 * tables. */
#include "fixture.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MEBIBYTE = 1 << 20, LARGE = 128 * MEBIBYTE };

static char got[256];

static void note(int has_succeeded, const char *name) {
    if (has_succeeded)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", got[0] != 0 ? " " : "", name);
}

static void *map(size_t size, int flags, int file) {
    return mmap(NULL, size, PROT_READ | PROT_WRITE, flags, file, 0);
}

static void hoard(void) {
    note(syscall(SYS_memfd_create, "hoard", 0) >= 0, "memfd");
    note(syscall(447, 0) >= 0, "memfd_secret");
    note(map(LARGE, MAP_SHARED | MAP_ANONYMOUS, -1) != MAP_FAILED, "anonymous");
    int zero = open("/dev/zero", O_RDWR);
    note(zero >= 0 && map(LARGE, MAP_SHARED, zero) != MAP_FAILED, "zero");
    note(shmget(IPC_PRIVATE, LARGE, 0600) >= 0, "segment");
    int queues = 0, sets = 0;
    while (queues < 100 && msgget(IPC_PRIVATE, 0600) >= 0)
        queues++;
    note(queues == 100, "queues");
    while (sets < 4 && semget(IPC_PRIVATE, 20000, 0600) >= 0)
        sets++;
    note(sets == 4, "semaphores");
    note(prctl(78, 1, 1024, 0) == 0, "futexes"); // PR_FUTEX_HASH, which old headers lack
    struct sock_filter permit = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
    struct sock_fprog filter = {1, &permit};
    note(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0, "filter");
    note(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0, "another filter");
}

static void share(bgtask_task *task, const bgtask_host *host) {
    for (int i = 0; i < 100; i++) {
        char *memory = map(8 * MEBIBYTE, MAP_SHARED | MAP_ANONYMOUS, -1);
        if (memory == MAP_FAILED) {
            host->complete(task, 0, "refused");
            return;
        }
        memset(memory, 1, 8 * MEBIBYTE);
    }
    for (;;)
        pause();
}

/* Fills shared memory, and gives back each piece before the next one. */
static void hide(bgtask_task *task, const bgtask_host *host) {
    enum { PIECES = 128 };
    char *memory = map(PIECES * MEBIBYTE, MAP_SHARED | MAP_ANONYMOUS, -1);
    if (memory == MAP_FAILED) {
        host->complete(task, 0, "refused");
        return;
    }
    for (int i = 0; i < PIECES; i++) {
        memset(memory + (size_t)i * MEBIBYTE, 1, MEBIBYTE);
        madvise(memory + (size_t)i * MEBIBYTE, MEBIBYTE, MADV_DONTNEED);
    }
    munmap(memory + MEBIBYTE, (PIECES - 1) * MEBIBYTE);
    for (;;)
        pause();
}

/* Maps one page of a file without a name 17,000 times, apart from each other. */
static void crowd(void) {
    enum { MAPPINGS = 17000, PAGE = 4096 };
    char path[4096];
    snprintf(path, sizeof path, "%s/crowd", getenv("TMPDIR"));
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    unlink(path);
    char *range = mmap(NULL, (size_t)2 * MAPPINGS * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (file < 0 || ftruncate(file, PAGE) != 0 || range == MAP_FAILED)
        return;
    for (size_t i = 0; i < MAPPINGS; i++)
        mmap(range + 2 * i * PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0);
    close(file);
}

/* Reads one page in each 2 MiB of 96 GiB: the page is that of zeros, and each needs a page table of 4 KiB. */
static void spread(bgtask_task *task, const bgtask_host *host) {
    const size_t distance = 2 * MEBIBYTE, size = 49152 * distance;
    volatile char *range = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED || madvise((void *)range, size, MADV_NOHUGEPAGE) != 0) {
        host->complete(task, 0, "refused");
        return;
    }
    for (size_t i = 0; i < size; i += distance)
        (void)range[i];
    for (;;)
        pause();
}

static void run(bgtask_task *task, const bgtask_host *host) {
    const char *label = strrchr(host->launch(task)->identifier, '.') + 1;
    if (strcmp(label, "shares") == 0) {
        share(task, host);
        return;
    }
    if (strcmp(label, "spreads") == 0) {
        spread(task, host);
        return;
    }
    if (strcmp(label, "crowds") == 0)
        crowd();
    if (strcmp(label, "hides") == 0 || strcmp(label, "crowds") == 0) {
        hide(task, host);
        return;
    }
    hoard();
    host->complete(task, 1, got[0] != 0 ? got : "nothing");
}
