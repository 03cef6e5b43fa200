/* The large seccomp filter: system calls that no task needs, and those that the manifest does not grant.
 *
 * The file is long because it lists these calls, and because the rules belong to one filter. */
#include "sandbox.h"

#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* Calls of libseccomp return 0 or a negative errno. */
static bool is_done(int result) {
    if (result >= 0)
        return true;
    errno = -result;
    return false;
}

/* A condition on one argument. With SCMP_CMP_MASKED_EQ, `first` is the mask and `second` the value. */
static struct scmp_arg_cmp when(unsigned argument, enum scmp_compare compare, uint64_t first,
                                uint64_t second) {
    return (struct scmp_arg_cmp){argument, compare, first, second};
}

/* A filter that is being built. If it reports, each call is reported to the launcher, which answers with the
 * error number that sandbox_answer returns. */
struct filter {
    scmp_filter_ctx rules;
    bool reports;
};

/* Adds a rule. Calls that this architecture does not have are skipped. */
static bool refuse(struct filter filter, int code, int call, unsigned count,
                   const struct scmp_arg_cmp *conditions) {
    if (call < 0)
        return true;
    uint32_t action = filter.reports ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO((uint32_t)code);
    return is_done(seccomp_rule_add_array(filter.rules, action, call, count, conditions));
}

static bool refuse_all(struct filter filter, int code, const int *calls, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!refuse(filter, code, calls[i], 0, NULL))
            return false;
    return true;
}

#define REFUSE_ALL(filter, code, ...)                                                                        \
    refuse_all(filter, code, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))
#define REFUSE_IF(filter, code, call, ...)                                                                   \
    refuse(filter, code, call,                                                                               \
           sizeof((const struct scmp_arg_cmp[]){__VA_ARGS__}) / sizeof(struct scmp_arg_cmp),                 \
           (const struct scmp_arg_cmp[]){__VA_ARGS__})

/* Calls by which a process reaches into others, into the kernel, or out of the sandbox. */
static bool refuse_never_needed(struct filter filter) {
    return REFUSE_ALL(filter, EPERM, SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv),
                      SCMP_SYS(process_vm_writev), SCMP_SYS(process_madvise), SCMP_SYS(process_mrelease),
                      SCMP_SYS(kcmp), SCMP_SYS(pidfd_getfd), SCMP_SYS(keyctl), SCMP_SYS(add_key),
                      SCMP_SYS(request_key), SCMP_SYS(bpf), SCMP_SYS(perf_event_open),
                      SCMP_SYS(userfaultfd)) &&
           REFUSE_ALL(filter, EPERM, SCMP_SYS(mount), SCMP_SYS(umount), SCMP_SYS(umount2),
                      SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(move_mount), SCMP_SYS(open_tree),
                      SCMP_SYS(fsopen), SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick),
                      SCMP_SYS(mount_setattr), SCMP_SYS(setns), SCMP_SYS(unshare), SCMP_SYS(swapon),
                      SCMP_SYS(swapoff)) &&
           REFUSE_ALL(filter, EPERM, SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module),
                      SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(reboot), SCMP_SYS(acct),
                      SCMP_SYS(quotactl), SCMP_SYS(quotactl_fd), SCMP_SYS(iopl), SCMP_SYS(ioperm),
                      SCMP_SYS(syslog), SCMP_SYS(lookup_dcookie), SCMP_SYS(vhangup),
                      SCMP_SYS(open_by_handle_at), SCMP_SYS(fanotify_init), SCMP_SYS(migrate_pages),
                      SCMP_SYS(move_pages)) &&
           REFUSE_ALL(filter, EPERM, SCMP_SYS(clock_settime), SCMP_SYS(clock_settime64),
                      SCMP_SYS(clock_adjtime), SCMP_SYS(clock_adjtime64), SCMP_SYS(adjtimex),
                      SCMP_SYS(settimeofday), SCMP_SYS(stime), SCMP_SYS(sethostname),
                      SCMP_SYS(setdomainname)) &&
           // io_uring would make sockets without the calls that this filter sees.
           REFUSE_ALL(filter, ENOSYS, SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter),
                      SCMP_SYS(io_uring_register)) &&
           // The machine has few contexts of asynchronous files for all programs (fs.aio-max-nr), and one
           // process can take them all.
           REFUSE_ALL(filter, ENOSYS, SCMP_SYS(io_setup));
}

/* New namespaces for a child, as unshare would make them for the caller. clone3 can't be filtered by its
 * flags: they are in memory. Tasks have no clone3 (isolation.c). */
static bool refuse_namespaces(struct filter filter) {
    static const uint64_t flags[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,   CLONE_NEWNET,
                                     CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (!REFUSE_IF(filter, EPERM, SCMP_SYS(clone), when(0, SCMP_CMP_MASKED_EQ, flags[i], flags[i])))
            return false;
    return true;
}

/* Calls that change another process whose number is an argument; 0 means the calling thread. */
static bool refuse_others(struct filter filter) {
    static const int by_first[] = {SCMP_SYS(prlimit64),         SCMP_SYS(sched_setscheduler),
                                   SCMP_SYS(sched_setparam),    SCMP_SYS(sched_setattr),
                                   SCMP_SYS(sched_setaffinity), SCMP_SYS(setpgid)};
    for (size_t i = 0; i < sizeof(by_first) / sizeof(by_first[0]); i++)
        if (!REFUSE_IF(filter, EPERM, by_first[i], when(0, SCMP_CMP_NE, 0, 0)))
            return false;
    return REFUSE_IF(filter, EPERM, SCMP_SYS(setpriority), when(0, SCMP_CMP_NE, 0, 0)) &&
           REFUSE_IF(filter, EPERM, SCMP_SYS(setpriority), when(1, SCMP_CMP_NE, 0, 0)) &&
           REFUSE_IF(filter, EPERM, SCMP_SYS(ioprio_set), when(0, SCMP_CMP_NE, 1, 0)) &&
           REFUSE_IF(filter, EPERM, SCMP_SYS(ioprio_set), when(1, SCMP_CMP_NE, 0, 0));
}

/* Calls that make the kernel send a signal to the owner of a descriptor. The owner may be any process of the
 * same user, and the signal any signal, so they would go around the rules for kill. The kernel reads 32 bits
 * of
 * a command, so the rules must not compare more. */
static bool refuse_owners(struct filter filter) {
    enum { COMMAND = 0xFFFFFFFF };
    return REFUSE_IF(filter, EPERM, SCMP_SYS(fcntl), when(1, SCMP_CMP_MASKED_EQ, COMMAND, F_SETOWN)) &&
           REFUSE_IF(filter, EPERM, SCMP_SYS(fcntl), when(1, SCMP_CMP_MASKED_EQ, COMMAND, F_SETOWN_EX)) &&
           REFUSE_IF(filter, EPERM, SCMP_SYS(fcntl), when(1, SCMP_CMP_MASKED_EQ, COMMAND, F_SETSIG)) &&
           /* A lease on a file keeps all other programs from opening it, for 45 s each time. */
           REFUSE_IF(filter, EPERM, SCMP_SYS(fcntl), when(1, SCMP_CMP_MASKED_EQ, COMMAND, F_SETLEASE)) &&
           REFUSE_IF(filter, EPERM, SCMP_SYS(ioctl), when(1, SCMP_CMP_MASKED_EQ, COMMAND, FIOSETOWN)) &&
           REFUSE_IF(filter, EPERM, SCMP_SYS(ioctl), when(1, SCMP_CMP_MASKED_EQ, COMMAND, SIOCSPGRP));
}

/* MARK: Memory */

/* Shared memory, message queues and semaphores of System V. */
static const int ipc_calls[] = {SCMP_SYS(shmget),     SCMP_SYS(shmat),  SCMP_SYS(shmctl), SCMP_SYS(msgget),
                                SCMP_SYS(msgsnd),     SCMP_SYS(msgrcv), SCMP_SYS(msgctl), SCMP_SYS(semget),
                                SCMP_SYS(semtimedop), SCMP_SYS(semop),  SCMP_SYS(semctl)};
/* memfd_create and memfd_secret, whose name not every libseccomp knows: memory that exists without being
 * mapped. vmsplice leaves it in a pipe. */
static const int memory_calls[] = {SCMP_SYS(memfd_create), 447, SCMP_SYS(vmsplice)};

static bool refuse_uncounted_memory(struct filter filter, const struct sandbox *sandbox) {
    size_t count = sizeof(ipc_calls) / sizeof(int);
    if (!sandbox_ipc_is_limited(sandbox) && !refuse_all(filter, ENOSYS, ipc_calls, count))
        return false;
    count = sizeof(memory_calls) / sizeof(int);
    return !sandbox->without_shared_memory || refuse_all(filter, ENOSYS, memory_calls, count);
}

/* Refuses anonymous shared memory to a task that has no other process to share it with. Its pages need not be
 * mapped, so the memory of the process does not show all of them. */
static bool refuse_shared_mappings(struct filter filter, const struct sandbox *sandbox) {
    enum { ANONYMOUS = MAP_SHARED | MAP_ANONYMOUS };
    return !sandbox->without_shared_memory || sandbox->subprocesses ||
           REFUSE_IF(filter, ENOMEM, SCMP_SYS(mmap), when(3, SCMP_CMP_MASKED_EQ, ANONYMOUS, ANONYMOUS));
}

/* MARK: Descriptors and rules that nothing shows */

/* Refuses a thread descriptors of its own. What they keep open is in no directory of the process that the
 * host reads to count files without a name. unshare is refused for all reasons. */
static bool refuse_own_descriptors(struct filter filter) {
    // libseccomp does not know the name of close_range everywhere, nor old headers the flag.
    enum { CALL = 436, UNSHARE = 2 };
    return REFUSE_IF(filter, EINVAL, CALL, when(2, SCMP_CMP_MASKED_EQ, UNSHARE, UNSHARE)) &&
           REFUSE_IF(filter, EPERM, SCMP_SYS(clone),
                     when(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_FILES, CLONE_THREAD));
}

/* Refuses rules of Landlock for ports: 65,536 of them need nothing but CPU time, and no limit counts their
 * memory. A template makes rules for files for each of its tasks; isolation_forbid_rules then forbids these,
 * too. */
static bool refuse_port_rules(struct filter filter) {
    enum { CALL = 445, PORT = 2 };
    return REFUSE_IF(filter, EOPNOTSUPP, CALL, when(1, SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, PORT));
}

/* Refuses a table for futexes of a chosen size (since Linux 6.16): 1 GiB of the kernel's memory with one
 * call, which no limit counts. The kernel chooses a size by itself. */
static bool refuse_futex_tables(struct filter filter) {
    enum { PR_FUTEX_HASH_CALL = 78 };
    return REFUSE_IF(filter, EINVAL, SCMP_SYS(prctl),
                     when(0, SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, PR_FUTEX_HASH_CALL));
}

/* MARK: Sockets */

enum { TYPE_MASK = 0xF, TCP = 6, UDP = 17, NAME_PORT = 53, FAST_OPEN = 0x20000000, UPPER_PROTOCOL = 31 };
/* The kernel ignores the upper half of an argument that is an int. */
#define NUMBER_MASK 0xFFFFFFFFull

/* Refuses every value of an argument from `first` to `last`. */
static bool refuse_values(struct filter filter, int call, unsigned argument, unsigned first, unsigned last) {
    for (unsigned value = first; value <= last; value++)
        if (!REFUSE_IF(filter, EACCES, call, when(argument, SCMP_CMP_EQ, value, 0)))
            return false;
    return true;
}

static bool refuse_type(struct filter filter, int call, unsigned type) {
    return REFUSE_IF(filter, EACCES, call, when(1, SCMP_CMP_MASKED_EQ, TYPE_MASK, type));
}

/* Refuses every type of socket except SOCK_STREAM and, if permitted, SOCK_DGRAM. */
static bool refuse_types(struct filter filter, int call, bool permits_datagrams) {
    for (unsigned type = 0; type <= TYPE_MASK; type++)
        if (type != SOCK_STREAM && (type != SOCK_DGRAM || !permits_datagrams) &&
            !refuse_type(filter, call, type))
            return false;
    return true;
}

/* Permits pairs of local stream sockets, which lead nowhere else. Datagram sockets can send to any
 * address. */
static bool refuse_other_pairs(struct filter filter) {
    return REFUSE_IF(filter, EACCES, SCMP_SYS(socketpair), when(0, SCMP_CMP_NE, AF_UNIX, 0)) &&
           refuse_types(filter, SCMP_SYS(socketpair), false);
}

/* Permits the families IPv4 and IPv6, and the kernel's list of addresses, which getaddrinfo reads. Sockets
 * of the family AF_UNIX would reach the host and other services of this machine. */
static bool refuse_families(struct filter filter) {
    int call = SCMP_SYS(socket);
    return refuse_values(filter, call, 0, 0, AF_INET - 1) &&
           refuse_values(filter, call, 0, AF_INET + 1, AF_INET6 - 1) &&
           refuse_values(filter, call, 0, AF_INET6 + 1, AF_NETLINK - 1) &&
           REFUSE_IF(filter, EACCES, call, when(0, SCMP_CMP_GT, AF_NETLINK, 0)) &&
           REFUSE_IF(filter, EACCES, call, when(0, SCMP_CMP_EQ, AF_NETLINK, 0), when(2, SCMP_CMP_NE, 0, 0)) &&
           refuse_other_pairs(filter);
}

/* What Landlock can't limit to ports: MPTCP and other protocols, servers, connections that the first data
 * opens, and sockets of TCP that an upper protocol (TCP_ULP) turns into others, such as SMC. */
static bool refuse_around_ports(struct filter filter, const struct sandbox *sandbox) {
    bool asks_names = false;
    for (size_t i = 0; i < sandbox->port_count; i++)
        asks_names = asks_names || sandbox->ports[i] == NAME_PORT;
    int call = SCMP_SYS(socket);
    return refuse_values(filter, call, 2, 1, TCP - 1) && refuse_values(filter, call, 2, TCP + 1, UDP - 1) &&
           REFUSE_IF(filter, EACCES, call, when(2, SCMP_CMP_GT, UDP, 0)) &&
           (asks_names || refuse_values(filter, call, 2, UDP, UDP)) &&
           refuse_types(filter, call, asks_names) &&
           REFUSE_ALL(filter, EACCES, SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept),
                      SCMP_SYS(accept4)) &&
           REFUSE_IF(filter, EACCES, SCMP_SYS(setsockopt), when(1, SCMP_CMP_MASKED_EQ, NUMBER_MASK, TCP),
                     when(2, SCMP_CMP_MASKED_EQ, NUMBER_MASK, UPPER_PROTOCOL)) &&
           REFUSE_IF(filter, EACCES, SCMP_SYS(sendto), when(3, SCMP_CMP_MASKED_EQ, FAST_OPEN, FAST_OPEN)) &&
           REFUSE_IF(filter, EACCES, SCMP_SYS(sendmsg), when(2, SCMP_CMP_MASKED_EQ, FAST_OPEN, FAST_OPEN)) &&
           REFUSE_IF(filter, EACCES, SCMP_SYS(sendmmsg), when(3, SCMP_CMP_MASKED_EQ, FAST_OPEN, FAST_OPEN));
}

static bool refuse_sockets(struct filter filter, const struct sandbox *sandbox) {
    if (sandbox->network == NETWORK_NONE)
        return REFUSE_ALL(filter, EACCES, SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(bind),
                          SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4)) &&
               // Programs talk to the programs that they start by such pairs, for example rsync.
               (sandbox->subprocesses ? refuse_other_pairs(filter)
                                      : REFUSE_ALL(filter, EACCES, SCMP_SYS(socketpair)));
    return refuse_families(filter) &&
           (sandbox->network == NETWORK_ALL || refuse_around_ports(filter, sandbox));
}

/* MARK: Files */

/* The calls that change the attributes of a file by its path. */
static const int attribute_calls[] = {
    SCMP_SYS(chmod),     SCMP_SYS(fchmodat),  SCMP_SYS(chown),       SCMP_SYS(lchown),
    SCMP_SYS(fchownat),  SCMP_SYS(utime),     SCMP_SYS(utimes),      SCMP_SYS(futimesat),
    SCMP_SYS(setxattr),  SCMP_SYS(lsetxattr), SCMP_SYS(removexattr), SCMP_SYS(lremovexattr),
    SCMP_SYS(utimensat), // without a path, it changes a file by its descriptor
};

/* Landlock does not restrict the attributes of files, and without a mount namespace, all file systems are
 * writable. Calls with a path could then change any file of the host's user; calls with a descriptor reach
 * only files that Landlock let the task open. */
static bool refuse_attributes(struct filter filter) {
    for (size_t i = 0; i < sizeof(attribute_calls) / sizeof(int); i++) {
        int call = attribute_calls[i];
        bool is_done = call == SCMP_SYS(utimensat)
                           ? REFUSE_IF(filter, EPERM, call, when(1, SCMP_CMP_NE, 0, 0))
                           : refuse(filter, EPERM, call, 0, NULL);
        if (!is_done)
            return false;
    }
    return true;
}

/* Calls that set attributes, whose names not every libseccomp knows: setxattrat, removexattrat and
 * file_setattr. Libraries use the older calls instead. */
static bool refuse_new_attributes(struct filter filter) {
    return refuse(filter, ENOSYS, 463, 0, NULL) && refuse(filter, ENOSYS, 466, 0, NULL) &&
           refuse(filter, ENOSYS, 469, 0, NULL);
}

/* The calls with a mode, and its position. Without O_CREAT or O_TMPFILE among the flags, that of the last two
 * has no meaning, and may be anything. */
static const struct mode_call {
    int call, mode, flags;
} mode_calls[] = {{SCMP_SYS(chmod), 1, -1}, {SCMP_SYS(fchmod), 1, -1},  {SCMP_SYS(fchmodat), 2, -1},
                  {SCMP_SYS(creat), 1, -1}, {SCMP_SYS(mknod), 1, -1},   {SCMP_SYS(mknodat), 2, -1},
                  {SCMP_SYS(mkdir), 1, -1}, {SCMP_SYS(mkdirat), 2, -1}, {SCMP_SYS(open), 2, 1},
                  {SCMP_SYS(openat), 3, 2}};
static const uint64_t making_flags[] = {O_CREAT, O_TMPFILE & ~O_DIRECTORY};

/* Refuses the calls that give a file a mode with one of the two bits by which programs run as another user or
 * group. A program of the host's user with such a bit would give its rights to every user of the machine. */
static bool refuse_set_id(struct filter filter) {
    static const uint64_t bits[] = {S_ISUID, S_ISGID};
    for (size_t i = 0; i < 2 * sizeof(mode_calls) / sizeof(mode_calls[0]); i++) {
        const struct mode_call *mode = &mode_calls[i / 2];
        uint64_t bit = bits[i % 2];
        struct scmp_arg_cmp has_bit = when((unsigned)mode->mode, SCMP_CMP_MASKED_EQ, bit, bit);
        if (mode->flags < 0 && !REFUSE_IF(filter, EPERM, mode->call, has_bit))
            return false;
        for (size_t j = 0; mode->flags >= 0 && j < 2; j++)
            if (!REFUSE_IF(filter, EPERM, mode->call,
                           when((unsigned)mode->flags, SCMP_CMP_MASKED_EQ, making_flags[j], making_flags[j]),
                           has_bit))
                return false;
    }
    return true;
}

/* The mode of openat2 is in memory, where a filter can't see it. libseccomp does not know the name of
 * fchmodat2 everywhere. Libraries use the older calls instead. */
static bool refuse_hidden_modes(struct filter filter) {
    return REFUSE_ALL(filter, ENOSYS, SCMP_SYS(openat2)) && refuse(filter, ENOSYS, 452, 0, NULL);
}

/* Whether refuse_set_id refuses a call with these arguments. */
static bool sets_id(int call, const uint64_t *arguments) {
    for (size_t i = 0; i < sizeof(mode_calls) / sizeof(mode_calls[0]); i++) {
        const struct mode_call *mode = &mode_calls[i];
        if (mode->call != call || (arguments[mode->mode] & (S_ISUID | S_ISGID)) == 0)
            continue;
        uint64_t flags = mode->flags >= 0 ? arguments[mode->flags] : O_CREAT;
        if ((flags & making_flags[0]) == making_flags[0] || (flags & making_flags[1]) == making_flags[1])
            return true;
    }
    return false;
}

/* MARK: Signals */

/* Reports the calls that send one of the usual signals. The launcher answers: a task without subprocesses may
 * signal itself, and for others, the kernel decides. */
static bool report_signals(struct filter filter, const struct sandbox *sandbox) {
    for (size_t i = 0; i < SIGNAL_CALLS; i++) {
        const struct signal_call *call = &sandbox_signal_calls[i];
        unsigned signal = (unsigned)call->signal;
        if (!REFUSE_IF(filter, EPERM, call->number, when(signal, SCMP_CMP_LE, LOW_SIGNAL, 0)))
            return false;
        for (size_t j = 0; j < REPORTED_SIGNALS; j++)
            if (!REFUSE_IF(filter, EPERM, call->number,
                           when(signal, SCMP_CMP_EQ, sandbox_reported_signals[j], 0)))
                return false;
    }
    return sandbox->subprocesses || REFUSE_ALL(filter, EPERM, SCMP_SYS(pidfd_open));
}

/* MARK: Reports to the launcher */

static const int network_calls[] = {SCMP_SYS(socket),   SCMP_SYS(socketpair), SCMP_SYS(connect),
                                    SCMP_SYS(bind),     SCMP_SYS(listen),     SCMP_SYS(accept),
                                    SCMP_SYS(accept4),  SCMP_SYS(sendto),     SCMP_SYS(sendmsg),
                                    SCMP_SYS(sendmmsg), SCMP_SYS(setsockopt)};
static const int file_calls[] = {
    SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(creat), SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(rmdir),
    SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2),
    SCMP_SYS(link), SCMP_SYS(linkat), SCMP_SYS(symlink), SCMP_SYS(symlinkat), SCMP_SYS(truncate),
    // FIFOs, and attributes, which only writable paths permit.
    SCMP_SYS(mknod), SCMP_SYS(mknodat), SCMP_SYS(chmod), SCMP_SYS(fchmodat), SCMP_SYS(chown),
    SCMP_SYS(lchown), SCMP_SYS(fchownat), SCMP_SYS(utimensat), SCMP_SYS(utime), SCMP_SYS(utimes),
    SCMP_SYS(setxattr), SCMP_SYS(lsetxattr), SCMP_SYS(removexattr), SCMP_SYS(lremovexattr)};
#define CONTAINS(calls, call) contains(calls, sizeof(calls) / sizeof(int), call)

static bool contains(const int *calls, size_t count, int call) {
    for (size_t i = 0; i < count; i++)
        if (calls[i] == call)
            return true;
    return false;
}

/* Whether the filter reports a call only to record it. */
static bool is_watched(const struct sandbox *sandbox, int call) {
    if (sandbox->observe != OBSERVE_ALL)
        return false;
    if (call == SCMP_SYS(execve) || call == SCMP_SYS(execveat))
        return sandbox->subprocesses;
    if (call == SCMP_SYS(connect))
        return sandbox->network != NETWORK_NONE;
    return CONTAINS(file_calls, call);
}

/* Whether a call that a learning run watches is refused nevertheless. */
static bool is_refused(const struct sandbox *sandbox, int call, const uint64_t *arguments) {
    bool is_by_path = call != SCMP_SYS(utimensat) || arguments[1] != 0;
    return sets_id(call, arguments) ||
           (!(sandbox->layers & LAYER_NAMESPACES) && is_by_path && CONTAINS(attribute_calls, call));
}

struct sandbox_answer sandbox_answer(const struct sandbox *sandbox, int call, const uint64_t *arguments) {
    struct sandbox_answer answer = {.code = EPERM, .name = "unknown"};
    if (is_watched(sandbox, call) && !is_refused(sandbox, call, arguments))
        answer.code = 0;
    else if (CONTAINS(network_calls, call))
        answer.code = EACCES;
    else if (call == SCMP_SYS(io_uring_setup) || call == SCMP_SYS(io_uring_enter) ||
             call == SCMP_SYS(io_uring_register) || call == SCMP_SYS(io_setup) || CONTAINS(ipc_calls, call) ||
             CONTAINS(memory_calls, call))
        answer.code = ENOSYS;
    static char name[64]; // the launcher has one thread
    char *known = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, call);
    if (known != NULL) {
        snprintf(name, sizeof(name), "%s", known);
        answer.name = name;
        free(known);
    }
    return answer;
}

/* Makes the filter report the calls of a learning run. Rules for the same calls in this filter would be lost:
 * libseccomp keeps only the rule without conditions. */
static bool watch(struct filter filter, const struct sandbox *sandbox) {
    static const int others[] = {SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(connect)};
    for (size_t i = 0; i < sizeof(file_calls) / sizeof(int); i++)
        if (!refuse(filter, 0, file_calls[i], 0, NULL))
            return false;
    for (size_t i = 0; i < sizeof(others) / sizeof(int); i++)
        if (is_watched(sandbox, others[i]) && !refuse(filter, 0, others[i], 0, NULL))
            return false;
    return true;
}

/* MARK: The filters */

/* The calls whose refusals are reported if the launcher gets reports. */
static bool refuse_audibly(struct filter filter, const struct sandbox *sandbox) {
    if (!refuse_never_needed(filter) || !refuse_namespaces(filter) || !refuse_others(filter) ||
        !refuse_owners(filter) || !refuse_uncounted_memory(filter, sandbox) ||
        !refuse_sockets(filter, sandbox) || !refuse_set_id(filter) ||
        (!(sandbox->layers & LAYER_NAMESPACES) && !refuse_attributes(filter)))
        return false;
    if (!sandbox->subprocesses &&
        !REFUSE_ALL(filter, EPERM, SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork), SCMP_SYS(vfork)))
        return false;
    if (filter.reports && !report_signals(filter, sandbox))
        return false;
    // Only a filter that reports has a rule for clone without namespaces: the launcher refuses the call to a
    // task, and permits it to a template, whose constructors may start processes. Otherwise, the task's own
    // filter (isolation.c) refuses clone.
    return !filter.reports || sandbox->subprocesses ||
           REFUSE_IF(filter, EPERM, SCMP_SYS(clone),
                     when(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_PARENT, 0));
}

/* The calls whose refusals are not reported: libraries try them, and then use older calls. A learning launch
 * reports some calls whatever their arguments are, so the rules for mappings are in this filter, too. */
static bool refuse_silently(struct filter filter, const struct sandbox *sandbox) {
    return refuse_hidden_modes(filter) && refuse_shared_mappings(filter, sandbox) &&
           refuse_own_descriptors(filter) && refuse_port_rules(filter) && refuse_futex_tables(filter) &&
           ((sandbox->layers & LAYER_NAMESPACES) || refuse_new_attributes(filter));
}

static bool new_filter(struct filter *filter, bool reports) {
    filter->rules = seccomp_init(SCMP_ACT_ALLOW);
    filter->reports = reports;
    if (filter->rules != NULL)
        return is_done(seccomp_attr_set(filter->rules, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
    errno = ENOMEM;
    return false;
}

/* Applies the filter that reports to the launcher. Returns false if the kernel can't do that: it is too old,
 * or a filter that reports to another program is in force. */
static bool report_calls(struct sandbox *sandbox) {
    struct filter filter;
    bool done = new_filter(&filter, true) && refuse_audibly(filter, sandbox) &&
                (sandbox->observe != OBSERVE_ALL || watch(filter, sandbox)) &&
                is_done(seccomp_load(filter.rules));
    if (done)
        sandbox->listener = seccomp_notify_fd(filter.rules);
    seccomp_release(filter.rules);
    return done && sandbox->listener >= 0;
}

bool sandbox_restrict_calls(struct sandbox *sandbox, char *finding, size_t size) {
    if (!(sandbox->layers & LAYER_SECCOMP))
        return true;
    // Of two filters, the kernel obeys the one that refuses, before the one that reports.
    struct filter filter;
    bool done = new_filter(&filter, false) && refuse_silently(filter, sandbox);
    if (done && sandbox->observe != OBSERVE_NONE && !report_calls(sandbox))
        sandbox->observe = OBSERVE_NONE;
    if (done && sandbox->observe == OBSERVE_NONE)
        done = refuse_audibly(filter, sandbox);
    done = done && is_done(seccomp_load(filter.rules));
    if (!done)
        sandbox_refused("the seccomp filter", finding, size);
    seccomp_release(filter.rules);
    return done;
}
