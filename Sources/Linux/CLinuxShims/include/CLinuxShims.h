/* SPDX-License-Identifier: Apache-2.0 */
/* System calls and structures that Swift's Glibc module lacks. Functions return -1 and set errno on
 * failure. */
#ifndef CLINUXSHIMS_H
#define CLINUXSHIMS_H

#include "CLinuxBus.h"
#include "CLinuxProcess.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** pidfd_open(2). */
int lx_pidfd_open(pid_t pid, unsigned int flags);

/** pidfd_send_signal(2) without siginfo. */
int lx_pidfd_send_signal(int pidfd, int signal);

/** Whether a pidfd is a file of pidfs, as since Linux 6.9, where each process has an inode of its own. */
bool lx_is_on_pidfs(int pidfd);

/** Whether a path is on a file system whose files are in memory only; false if it does not exist. */
bool lx_is_in_memory(const char *path);

/** timerfd_create(2), close-on-exec. */
int lx_timerfd_create(int clock);

/** Sets a timer to an absolute time in ns; 0 disarms it. With `cancel_on_set`, reading fails after the
 *  clock was set. */
int lx_timerfd_settime(int timer, int64_t nanoseconds, int cancel_on_set);

/** eventfd(2), close-on-exec. */
int lx_eventfd(void);

/** Adds 1 to an eventfd. */
int lx_eventfd_signal(int event);

/** Calls prctl(2) with PR_SET_DUMPABLE 0: no core dumps, and other processes of the same user cannot
 *  attach with ptrace or read the memory. */
int lx_forbid_inspection(void);

/** Calls madvise(2) with MADV_DONTNEED on the segments of the program's file that were never writable. The
 * segments of libraries stay unchanged. */
void lx_release_program_text(void);

/** Begins to count the bytes that sockets of a cgroup receive and send; sockets belong to the group of the
 *  process that made them. Returns a descriptor for lx_network_bytes, close-on-exec. The kernel counts until
 *  the group is removed. Needs CAP_BPF and CAP_NET_ADMIN, or root. */
int lx_count_network(const char *path);
/** Reads the bytes of whole packets, from the IP header on, since lx_count_network. */
int lx_network_bytes(int counter, uint64_t *received, uint64_t *sent);

/** Names the calling thread for `ps -L`; at most 15 bytes. */
int lx_name_thread(const char *name);

/** Removes a directory and its contents. Does not follow links or enter other mounts. */
int lx_remove_tree(const char *path);

/** Creates the directories of an absolute path that are missing, each with this owner, group and mode.
 * Follows no link: the path must have none. */
int lx_make_owned(const char *path, uint32_t owner, uint32_t group, unsigned mode);
/** Creates one directory with this owner, group and mode in an open one. If it fails, returns -1 and sets
 * errno. */
int lx_make_owned_at(int parent, const char *name, uint32_t owner, uint32_t group, unsigned mode);

/** Makes a user the owner of a directory and of its contents, as far as they belong to the calling user or to
 * one of the users `low` through `high`. Does not follow links, enter other mounts, or change files with
 * several names. Fails with ELOOP if the tree is more than 200 levels deep. */
int lx_give_tree(const char *path, uint32_t owner, uint32_t low, uint32_t high);

/** The space that a directory tree occupies. */
struct lx_tree_size {
    int64_t bytes;    /**< The allocated bytes of all entries, without those of other mounts. */
    int64_t left;     /**< How many more entries would have been counted. */
    bool is_complete; /**< Whether all entries were counted; otherwise `bytes` is a lower bound. */
};
/** Counts at most `most` entries of a directory tree. Does not follow links or enter other mounts. */
struct lx_tree_size lx_tree_size(const char *path, int64_t most);

/** A file, by its device and inode. */
struct lx_file {
    uint64_t device, inode;
    int64_t bytes; /**< The allocated bytes. */
};
/** A table of files, which has each file once. */
struct lx_file_table {
    struct lx_file *places; /**< The device of an empty place is 0. */
    size_t room;            /**< The number of places, a power of two; at most half of them are used. */
    size_t count;           /**< The number of files. */
    int64_t links;          /**< How many more open files and mappings may be looked at. */
    int64_t in_flight;      /**< The descriptors that were sent over sockets and not received yet. */
};
/** Finds out the device, the inode and the size of a file. Returns false if it does not exist. */
bool lx_identify(const char *path, struct lx_file *file);
/** Adds a file that counts as empty in all processes; does nothing if the table is full. */
void lx_ignore_file(struct lx_file file, struct lx_file_table *table);
/** Adds the regular files without a name that a process has open or, as far as the caller may see it, mapped;
 * none for a process that has ended. Returns false if there are too many files or links for the table. */
bool lx_add_unlinked_files(pid_t process, struct lx_file_table *table);

/** The device of a file; 0 if it does not exist. */
uint64_t lx_device(const char *path);

/** The device of memory files, shared mappings and segments of System V; 0 if it is not known. */
uint64_t lx_shared_memory_device(void);

/** Finds a process and its descendants, from the kernel's lists of children.
 *
 * A process whose parent ends meanwhile can be missing. So can be one whose parent has thousands of threads:
 * at most four lists are read for each process that may be found.
 * @param root The number of the process.
 * @param found Where the numbers are written, first that of the process.
 * @param most How many are written at most.
 * @param threads Before: with how many threads the search ends. Afterwards: the number of the threads found.
 * @return How many numbers were written. */
size_t lx_descendants(pid_t root, pid_t *found, size_t most, size_t *threads);

/** Creates an epoll instance (epoll(7)) for the next four functions. All of them return -1 with errno on
 *  failure. */
int lx_poller_create(void);
/** Adds a pipe with a number; nothing is told before it is armed, except once if it has ended already. */
int lx_poller_add(int poller, int pipe, uint64_t number);
/** Asks to be told once when the pipe can be read or has ended. */
int lx_poller_arm(int poller, int pipe, uint64_t number);
int lx_poller_remove(int poller, int pipe);
/** Waits, and stores the numbers of at most 64 pipes; returns how many. */
int lx_poller_wait(int poller, uint64_t *numbers, int most);

/** A thread of a process that has not ended: the first one or, after its end, any other.
 *
 * /proc/PID then shows neither memory nor files of the process, but /proc/THREAD does. Without such a thread,
 * the result is the number of the process. */
pid_t lx_living_thread(pid_t process);

/** The number of all threads of the machine, modulo 65,536; 0 if it is not known. */
uint16_t lx_thread_count(void);

/** Makes a raw netlink socket, close-on-exec, that receives multicast groups (one bit per group; 0 for
 *  none). */
int lx_netlink_socket(int protocol, uint32_t groups);

/** A function of the Swift runtime. Returns the readable form of a mangled name, which the caller frees;
 *  NULL for other names. */
char *swift_demangle(const char *name, size_t length, char *buffer, size_t *size, uint32_t flags);

/** Calls the XSI form of strerror_r(3). Returns 0 or an error number. */
int lx_strerror(int code, char *buffer, size_t size);

#endif
