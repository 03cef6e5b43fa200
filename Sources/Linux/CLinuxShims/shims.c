/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <errno.h>
#include <link.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <unistd.h>

int lx_pidfd_open(pid_t pid, unsigned int flags) {
    return (int)syscall(SYS_pidfd_open, pid, flags);
}

int lx_pidfd_send_signal(int pidfd, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

bool lx_is_on_pidfs(int pidfd) {
    struct statfs system;
    return fstatfs(pidfd, &system) == 0 && system.f_type == 0x50494446; // PIDFS_MAGIC
}

bool lx_is_in_memory(const char *path) {
    struct statfs system;
    // TMPFS_MAGIC and RAMFS_MAGIC
    return statfs(path, &system) == 0 && (system.f_type == 0x01021994 || system.f_type == 0x858458f6);
}

int lx_netlink_socket(int protocol, uint32_t groups) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
    if (descriptor < 0)
        return -1;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0)
        return descriptor;
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

int lx_strerror(int code, char *buffer, size_t size) {
    /* The GNU form may return its own text and leave the buffer unchanged. */
    const char *text = strerror_r(code, buffer, size);
    if (text != buffer && snprintf(buffer, size, "%s", text) < 0)
        return -1;
    return 0;
}

int lx_timerfd_create(int clock) {
    return timerfd_create(clock, TFD_CLOEXEC);
}

int lx_timerfd_settime(int timer, int64_t nanoseconds, int cancel_on_set) {
    struct itimerspec time = {
        .it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000},
    };
    return timerfd_settime(timer, TFD_TIMER_ABSTIME | (cancel_on_set ? TFD_TIMER_CANCEL_ON_SET : 0), &time,
                           NULL);
}

int lx_eventfd(void) {
    return eventfd(0, EFD_CLOEXEC);
}

int lx_eventfd_signal(int event) {
    return eventfd_write(event, 1);
}

int lx_name_thread(const char *name) {
    return prctl(PR_SET_NAME, name);
}

/* Returns the pages of the program's read-only segments to the kernel, which reads them from the file again
 * when they are needed. The first object is the program; returning 1 ends the iteration after it. */
static int release_read_only(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size;
    (void)unused;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W)
            continue;
        uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_memsz) & ~(page - 1);
        if (end > start)
            madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 1;
}

void lx_release_program_text(void) {
    dl_iterate_phdr(release_read_only, NULL);
}

int lx_forbid_inspection(void) {
    return prctl(PR_SET_DUMPABLE, 0);
}

uint16_t lx_thread_count(void) {
    struct sysinfo facts;
    return sysinfo(&facts) == 0 ? facts.procs : 0;
}
