/* SPDX-License-Identifier: Apache-2.0 */
/* System calls and structures that Swift's Glibc module does not offer. Functions return -1 and set errno. */
#ifndef CLINUXSHIMS_H
#define CLINUXSHIMS_H

#include <sys/types.h>

/** pidfd_open(2). */
int lx_pidfd_open(pid_t pid, unsigned int flags);

/** pidfd_send_signal(2) without siginfo. */
int lx_pidfd_send_signal(int pidfd, int signal);

/** strerror_r(3), the XSI form; returns 0 or an error number. */
int lx_strerror(int code, char *buffer, size_t size);

#endif
