/* SPDX-License-Identifier: Apache-2.0 */
/* Processes, and the descriptors that connect them. Functions return -1 and set errno on failure, unless
 * their comment says otherwise. */
#ifndef CLINUXPROCESS_H
#define CLINUXPROCESS_H

#include <stdint.h>
#include <sys/auxv.h>
#include <sys/types.h>

/** Starts a program in a new session. `descriptor` becomes its descriptor 3, and /dev/null its standard
 *  input; it has no other descriptor above 2. Signals have their default actions and are not blocked.
 *  Returns the pid. */
pid_t lx_spawn(const char *path, char *const arguments[], char *const environment[], int descriptor);

/** Starts a program in a new session, with `output` as its standard output, `errors` (/dev/null if it is
 *  negative) as its standard error and `/` as its working directory. Its standard input is /dev/null; it
 *  has no other descriptors. Signals have their default actions and are not blocked. Returns the pid. */
pid_t lx_spawn_printing(const char *path, char *const arguments[], char *const environment[], int output,
                        int errors);

/** Calls pipe2(2): close-on-exec, with a non-blocking reading end. */
int lx_pipe(int pair[2]);

/** Makes a connected pair of stream sockets, close-on-exec. */
int lx_socketpair(int pair[2]);

/** Calls recvmsg(2) and receives descriptors, too, close-on-exec. More than `capacity` descriptors are
 *  refused with EMFILE. */
ssize_t lx_receive(int socket, void *buffer, size_t size, int *descriptors, int capacity, int *count);

/** Calls send(2) without waiting and without SIGPIPE. */
ssize_t lx_send(int socket, const void *bytes, size_t size);

/** Calls send(2) without SIGPIPE; waits until the socket takes some bytes. */
ssize_t lx_send_waiting(int socket, const void *bytes, size_t size);

/** Sends bytes and a descriptor with them; waits until the socket takes some bytes. Without SIGPIPE. */
ssize_t lx_send_descriptor(int socket, const void *bytes, size_t size, int descriptor);

/** Waits until the process of a pidfd has ended, and reaps it. Stores its wait status in the format of
 *  waitpid. */
int lx_reap(int pidfd, int *status);

/** Waits until a signal stops the child of a pidfd (1) or continues it (2), or until it has ended (0). */
int lx_wait_for_pause(int pidfd);

/** Opens a counter of the CPU time of a thread and of all threads and processes that it starts from now on
 *  (perf_event_open(2)). Their cgroups do not matter, and neither does it whether a process waits for them.
 *  Each read returns 8 bytes, in nanoseconds. */
int lx_open_inherited_clock(pid_t thread);

/** Sets a thread's nice value, its policy (SCHED_BATCH or SCHED_OTHER), and its I/O class (idle or best
 *  effort). Settings that are not permitted stay unchanged. */
void lx_set_thread_priority(pid_t thread, int nice_value, int is_batch, int is_idle_io);

/** Returns the number of CPU cores that this process may use, at least 1. */
int lx_core_count(void);

/** Returns the name of a system call in which threads often wait, such as "futex"; NULL for other numbers. */
const char *lx_system_call_name(long number);
/** Returns the version of the kernel's Landlock, or 0 if it has none or does not enable it. */
int lx_landlock_version(void);

#endif
