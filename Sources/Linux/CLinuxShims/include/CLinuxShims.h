/* SPDX-License-Identifier: Apache-2.0 */
/* System calls and structures that Swift's Glibc module does not offer. Functions return -1 and set errno. */
#ifndef CLINUXSHIMS_H
#define CLINUXSHIMS_H

#include "CLinuxBus.h"
#include "CLinuxProcess.h"
#include <stdint.h>
#include <sys/types.h>

/** pidfd_open(2). */
int lx_pidfd_open(pid_t pid, unsigned int flags);

/** pidfd_send_signal(2) without siginfo. */
int lx_pidfd_send_signal(int pidfd, int signal);

/** timerfd_create(2), close-on-exec. */
int lx_timerfd_create(int clock);

/** Sets a timer to an absolute time in ns; 0 disarms. `cancel_on_set`: reading fails when the clock is set. */
int lx_timerfd_settime(int timer, int64_t nanoseconds, int cancel_on_set);

/** eventfd(2), close-on-exec. */
int lx_eventfd(void);

/** Adds 1 to an eventfd. */
int lx_eventfd_signal(int event);

/** prctl(2), PR_SET_DUMPABLE 0: no core dump, no ptrace and no reading of the memory by the same user. */
int lx_forbid_inspection(void);

/** Names the calling thread for `ps -L`; at most 15 bytes. */
int lx_name_thread(const char *name);

/** Removes a directory and all in it; follows no link and leaves other mounts alone. */
int lx_remove_tree(const char *path);

/** A raw netlink socket, close-on-exec, bound to these multicast groups (a bit each; 0 for none). */
int lx_netlink_socket(int protocol, uint32_t groups);

/** The Swift runtime's own: a mangled name as Swift writes it, to be freed; NULL for other names. */
char *swift_demangle(const char *name, size_t length, char *buffer, size_t *size, uint32_t flags);

/** strerror_r(3), the XSI form; returns 0 or an error number. */
int lx_strerror(int code, char *buffer, size_t size);

#endif
