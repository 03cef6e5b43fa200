/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and descriptors between them. Functions return -1 and set errno, unless said otherwise. */
#ifndef CLINUXPROCESS_H
#define CLINUXPROCESS_H

#include <stdint.h>
#include <sys/types.h>

/** Starts a program in a session of its own with `descriptor` as its 3, /dev/null as stdin, no other descriptor
 *  above 2, default signal actions and an empty mask. Returns its pid. */
pid_t lx_spawn(const char *path, char *const arguments[], char *const environment[], int descriptor);

/** Spawns a program in a session of its own whose standard output is `output`: default signals, `/` as its directory,
 *  nothing to read, standard error to nowhere, no other descriptor. -1 with errno on failure. */
pid_t lx_spawn_printing(const char *path, char *const arguments[], char *const environment[], int output);

/** pipe2(2), close-on-exec, the reading end not blocking. */
int lx_pipe(int pair[2]);

/** A connected pair of stream sockets, close-on-exec. */
int lx_socketpair(int pair[2]);

/** recvmsg(2) that takes descriptors too, close-on-exec; more than `capacity` of them are refused (EMFILE). */
ssize_t lx_receive(int socket, void *buffer, size_t size, int *descriptors, int capacity, int *count);

/** send(2) without waiting and without SIGPIPE. */
ssize_t lx_send(int socket, const void *bytes, size_t size);

/** Reaps the process of a pidfd, waiting for its end; fills its wait status as waitpid gives it. */
int lx_reap(int pidfd, int *status);

/** Gives a thread a nice value, SCHED_BATCH or SCHED_OTHER, and the idle or the best-effort I/O class; what is not
 *  permitted is left as it is. */
void lx_set_thread_priority(pid_t thread, int nice_value, int is_batch, int is_idle_io);

/** CPU cores that this process may use; 1 at least. */
int lx_core_count(void);

#endif
