/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int lx_pidfd_open(pid_t pid, unsigned int flags) {
    return (int)syscall(SYS_pidfd_open, pid, flags);
}

int lx_pidfd_send_signal(int pidfd, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

int lx_strerror(int code, char *buffer, size_t size) {
    /* The GNU form may return a text of its own and leave the buffer alone. */
    const char *text = strerror_r(code, buffer, size);
    if (text != buffer && snprintf(buffer, size, "%s", text) < 0) return -1;
    return 0;
}
