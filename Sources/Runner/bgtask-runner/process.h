/* Making processes: clone3 with a pidfd, straight into a cgroup, and the init of a PID namespace. */
#ifndef BGTASK_RUNNER_PROCESS_H
#define BGTASK_RUNNER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** Nanoseconds of CLOCK_MONOTONIC. */
int64_t now_nanoseconds(void);

/** Makes a child like fork: 0 in the child, its pid in the parent, -1 with errno.
 *
 *  `flags` are CLONE_PARENT and CLONE_NEW...; `cgroup` is the descriptor of the group to start in, or -1. The
 *  pidfd (close-on-exec) goes to `*pidfd`. Only for a process of one thread. Where clone3 is refused
 *  (containers answer
 *  ENOSYS) clone is used, and the child returns once it has been moved into its group. */
pid_t process_clone(uint64_t flags, int cgroup, int *pidfd);

/** True if children of process_clone know their own thread id in glibc, so that they may run anything. */
bool process_clone_is_complete(void);

/** What the init of a PID namespace says of its handler when all is over, on the status pipe. */
struct namespace_status {
    int32_t wait_status; /**< As waitpid gives it. */
    uint32_t leftovers;  /**< Processes that outlived the handler and were killed. */
};

/** Makes the calling process, the first of its PID namespace, its init.
 *
 *  Returns in a new child, the handler's process. The init itself closes all descriptors but `status`, reaps,
 *  and when the handler has ended kills the rest, counts it, writes a `namespace_status` and exits 0. Returns
 *  false
 *  with errno, in the first process, if the namespace can't be set up. */
bool process_become_init(int status, bool maps_user);

/** Clone flags of a PID namespace for this user: with a user namespace unless we are root. */
uint64_t process_namespace_flags(void);

#endif
