/* Creates processes: clone3 with a pidfd, directly into a cgroup, and the init of a PID namespace. */
#ifndef BGTASK_RUNNER_PROCESS_H
#define BGTASK_RUNNER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** Returns the time on CLOCK_MONOTONIC in nanoseconds. */
int64_t now_nanoseconds(void);

/** Whether an error number means that the system or the user lacks descriptors, processes, memory or space at
 *  present, so that the same call can succeed later. */
bool is_shortage(int code);

/** Creates a child like fork: returns 0 in the child, its pid in the parent, and -1 with errno on failure.
 *
 *  `flags` may contain CLONE_PARENT and CLONE_NEW... flags. `cgroup` is the descriptor of the group in
 *  which the child starts, or -1. The pidfd (close-on-exec) is stored in `*pidfd`. The calling process
 *  must have only one thread. If clone3 is not available (containers may return ENOSYS), clone is used;
 *  the call then returns in the child after the child was moved into its group. */
pid_t process_clone(uint64_t flags, int cgroup, int *pidfd);

/** Whether children of process_clone have their own thread id in glibc, so that they can run any code. */
bool process_clone_is_complete(void);

/** The report of a PID namespace's init about its handler, which it writes to the status pipe at the end. */
struct namespace_status {
    int32_t wait_status; /**< The wait status, as waitpid returns it. */
    uint32_t leftovers;  /**< Processes that outlived the handler; the init killed them. */
};

/** Makes the calling process, which must be the first of its PID namespace, its init.
 *
 *  Returns true in a new child, which becomes the handler's process. The init itself closes all
 *  descriptors except `status` and reaps children. When the handler has ended, it kills and counts the
 *  remaining processes, writes a `namespace_status` to `status` and exits with 0. If the namespace cannot
 *  be set up, returns false in the first process and sets errno. `maps_user` says whether the process must
 *  map its ids in a new user namespace. */
bool process_become_init(int status, bool maps_user);

/** Gives this process, which has just entered a user namespace, a user and a group in it; outside, they are
 *  `outside` and `group_outside`. On failure, returns false and sets errno. */
bool process_map(uid_t user, uid_t outside, gid_t group, gid_t group_outside);

/** Whether the kernel, and the filter of a container, permit clone3. */
bool process_has_clone3(void);

/** Returns the clone flags for a PID namespace; unless the user is root, they include a user namespace. */
uint64_t process_namespace_flags(void);

#endif
