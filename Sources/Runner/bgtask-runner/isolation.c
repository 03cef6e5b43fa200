#include "isolation.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

bool isolation_parse(const char *word, enum isolation *isolation) {
    static const char *const words[] = {"cgroup", "pidNamespace", "noFork"};
    for (int i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            *isolation = (enum isolation)i;
            return true;
        }
    return false;
}

static bool refused(const char *call, char *finding, size_t size) {
    int code = errno;
    snprintf(finding, size, "%s: %s (%d)", call, strerror(code), code);
    return false;
}

/* MARK: Template */

/* Sets a resource limit. The values are reduced to the present hard limit, because a process without
 * privileges may not exceed it. */
static bool set_limit(const struct limit_setting *setting) {
    struct rlimit has, wanted = setting->limit;
    if (getrlimit((__rlimit_resource_t)setting->resource, &has) != 0)
        return false;
    if (wanted.rlim_max > has.rlim_max)
        wanted.rlim_max = has.rlim_max;
    if (wanted.rlim_cur > wanted.rlim_max)
        wanted.rlim_cur = wanted.rlim_max;
    return setrlimit((__rlimit_resource_t)setting->resource, &wanted) == 0;
}

/* Sets the limit of processes, or all others. */
static bool set_limits(const struct settings *settings, bool of_processes) {
    for (size_t i = 0; i < settings->limit_count; i++)
        if ((settings->limits[i].resource == RLIMIT_NPROC) == of_processes &&
            !set_limit(&settings->limits[i]))
            return false;
    return true;
}

/* Makes the kernel kill this process before the host when memory runs out: sets oom_score_adj to 500,
 * unless it is already higher. */
static bool raise_oom_score(void) {
    int file = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    if (file < 0)
        return false;
    char text[16] = {0};
    bool done = read(file, text, sizeof(text) - 1) > 0;
    int score = 0;
    if (done && sscanf(text, "%d", &score) == 1 && score < 500)
        done = pwrite(file, "500", 3, 0) == 3;
    int code = errno;
    close(file);
    errno = code;
    return done;
}

/* Sets the scheduling classes for the processor and the disk, which clones inherit. No privilege is needed
 * for these two. */
static bool enter_classes(const struct settings *settings) {
    enum { THIS_PROCESS = 1, CLASS_IDLE = 3, CLASS_SHIFT = 13 }; // of linux/ioprio.h, which old headers lack
    struct sched_param parameters = {.sched_priority = 0};
    if (settings->batch && sched_setscheduler(0, SCHED_BATCH, &parameters) != 0)
        return false;
    return !settings->idle_io || syscall(SYS_ioprio_set, THIS_PROCESS, 0, CLASS_IDLE << CLASS_SHIFT) == 0;
}

/* Gives up the capability CAP_SYS_NICE, for this process and for the program that it executes. With the
 * capability, libdispatch would override the host's nice value, because it sets the value of each worker
 * thread according to its quality of service. */
static bool give_up_priority(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};
    if (syscall(SYS_capget, &header, sets) != 0)
        return false;
    struct __user_cap_data_struct *set = &sets[CAP_TO_INDEX(CAP_SYS_NICE)];
    if (!(set->permitted & CAP_TO_MASK(CAP_SYS_NICE)))
        return true;
    // This fails without CAP_SETPCAP. Then the process is not root's, and exec gives it no capabilities.
    prctl(PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0);
    set->effective &= ~CAP_TO_MASK(CAP_SYS_NICE);
    set->permitted &= ~CAP_TO_MASK(CAP_SYS_NICE);
    set->inheritable &= ~CAP_TO_MASK(CAP_SYS_NICE);
    return syscall(SYS_capset, &header, sets) == 0;
}

/* Sets the signal actions and mask that a new program expects, except that SIGPIPE is ignored, so that a
 * write to a pipe that the host closed returns an error. */
static void reset_signals(void) {
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL); // fails for SIGKILL, SIGSTOP and the signals of glibc; that is correct
    signal(SIGPIPE, SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

bool isolation_enter_template(const struct settings *settings, char *finding, size_t size) {
    // 1. A new session; the process dies with the launcher.
    reset_signals();
    setsid(); // fails only if this process already leads a session
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return refused("prctl(PR_SET_PDEATHSIG)", finding, size);
    // 2. Resource limits and priority, which later steps would not permit.
    if (!raise_oom_score())
        return refused("write(/proc/self/oom_score_adj)", finding, size);
    if (!set_limits(settings, false))
        return refused("setrlimit", finding, size);
    if (getpriority(PRIO_PROCESS, 0) < settings->niceness &&
        setpriority(PRIO_PROCESS, 0, settings->niceness) != 0)
        return refused("setpriority", finding, size);
    if (!enter_classes(settings))
        return refused("sched_setscheduler or ioprio_set", finding, size);
    if (!give_up_priority())
        return refused("capset", finding, size);
    // 3. Namespaces, and the working directory in them.
    if (!sandbox_enter_namespaces(&settings->sandbox, finding, size))
        return false;
    if (chdir(settings->directory) != 0)
        return refused("chdir to the template's directory", finding, size);
    // 4. The user of the bundle, no capabilities and no new privileges. Landlock and the large seccomp filter
    // follow after exec, because they forbid exec.
    if (!sandbox_drop_privileges(&settings->sandbox, finding, size))
        return false;
    // Before, the limit would count the processes of the launcher's user, and not only those of the bundle.
    if (!set_limits(settings, true))
        return refused("setrlimit", finding, size);
    if (sandbox_has_user(&settings->sandbox) && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return refused("prctl(PR_SET_PDEATHSIG)", finding, size);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return refused("prctl(PR_SET_NO_NEW_PRIVS)", finding, size);
    return true;
}

int isolation_message(const struct settings *settings) {
    int file = memfd_create("template", 0);
    if (file >= 0 && settings->message.length > 0 &&
        pwrite(file, settings->message.bytes, settings->message.length, 0) !=
            (ssize_t)settings->message.length) {
        close(file);
        return -1;
    }
    return file;
}

/* MARK: Task */

/* The seccomp filter that forbids new processes, in the kernel's form. It is built once in a template;
 * every clone inherits it. */
static struct sock_fprog no_fork_filter;
/* Whether the large filter reports new processes and signals to the launcher. This filter must then not
 * refuse them first. */
static bool calls_are_reported;

/* Reads the whole contents of a memfd; NULL if there is no memory. */
static void *read_all(int file, size_t *length) {
    off_t end = lseek(file, 0, SEEK_END);
    void *bytes = end > 0 ? malloc((size_t)end) : NULL;
    if (bytes != NULL && pread(file, bytes, (size_t)end, 0) != end) {
        free(bytes);
        bytes = NULL;
    }
    *length = bytes != NULL ? (size_t)end : 0;
    return bytes;
}

/* The value in the filter that stands for the task's own number, which is known only after the clone. */
enum { OWN_NUMBER = 0x7ACE1D };

/* Adds rules by which the task can send signals only to itself. Scopes of Landlock would still permit signals
 * to other tasks of the same template. */
static bool refuse_signals(scmp_filter_ctx filter) {
    // libseccomp can't compare one argument with several values.
    if (calls_are_reported)
        return true;
    static const int calls[] = {SCMP_SYS(kill), SCMP_SYS(tgkill), SCMP_SYS(rt_sigqueueinfo),
                                SCMP_SYS(rt_tgsigqueueinfo), SCMP_SYS(pidfd_open)};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 1,
                             SCMP_A0(SCMP_CMP_NE, OWN_NUMBER, 0)) != 0)
            return false;
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tkill), 0) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(pidfd_send_signal), 0) == 0;
}

/* Writes the same rules for a task whose large filter reports some signals: this filter leaves those to the
 * launcher, and refuses the others. Calls that send no signal continue after the last instruction.
 *
 * It compares all 64 bits of a signal, as libseccomp does: what it leaves to the launcher must be what the
 * large filter reports, although the kernel then uses 32 bits. */
static size_t leave_reported_signals(struct sock_filter *to) {
    enum {
        LOAD = BPF_LD | BPF_W | BPF_ABS,
        EQUAL = BPF_JMP | BPF_JEQ | BPF_K,
        LENGTH = 10 + REPORTED_SIGNALS
    };
#define ARGUMENT(position) ((uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)(position)))
#define GO(at, target) ((uint8_t)((target) - (at)-1))
    // Linux runs on no big-endian machine that Swift supports, so the low half of an argument comes first.
    enum { REFUSE = LENGTH - 2, PERMIT = LENGTH - 1 };
    for (size_t i = 0; i < SIGNAL_CALLS; i++, to += LENGTH) {
        const struct signal_call *call = &sandbox_signal_calls[i];
        bool has_process = call->process >= 0;
        to[0] = (struct sock_filter)BPF_STMT(LOAD, offsetof(struct seccomp_data, nr));
        to[1] = (struct sock_filter)BPF_JUMP(EQUAL, (uint32_t)call->number, 0, GO(1, LENGTH));
        to[2] = (struct sock_filter)BPF_STMT(LOAD, ARGUMENT(has_process ? call->process : 0));
        // -1 is no number of a process, and never that of a task.
        to[3] = (struct sock_filter)BPF_JUMP(EQUAL, has_process ? OWN_NUMBER : ~0u,
                                             has_process ? GO(3, PERMIT) : 0, 0);
        to[4] = (struct sock_filter)BPF_STMT(LOAD, ARGUMENT(call->signal) + 4);
        to[5] = (struct sock_filter)BPF_JUMP(EQUAL, 0, 0, GO(5, REFUSE));
        to[6] = (struct sock_filter)BPF_STMT(LOAD, ARGUMENT(call->signal));
        to[7] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LOW_SIGNAL, 0, GO(7, PERMIT));
        for (int j = 0; j < REPORTED_SIGNALS; j++)
            to[8 + j] =
                (struct sock_filter)BPF_JUMP(EQUAL, sandbox_reported_signals[j], GO(8 + j, PERMIT), 0);
        to[REFUSE] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
        to[PERMIT] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    return SIGNAL_CALLS * (size_t)LENGTH;
#undef ARGUMENT
#undef GO
}

/* Puts the task's number into the filter. */
static void set_own_number(struct sock_fprog *filter) {
    for (unsigned short i = 0; i < filter->len; i++)
        if (BPF_CLASS(filter->filter[i].code) == BPF_JMP && filter->filter[i].k == OWN_NUMBER)
            filter->filter[i].k = (uint32_t)getpid();
}

bool isolation_prepare_no_fork(void) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (filter == NULL)
        return false;
    // A filter cannot read the flags of clone3, because they are in memory. With ENOSYS, libraries use clone
    // instead.
    bool done =
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0 && refuse_signals(filter);
    if (calls_are_reported)
        done = done &&
               seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_PARENT, CLONE_PARENT)) == 0;
    else
        done = done && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(fork), 0) == 0 &&
               seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(vfork), 0) == 0 &&
               seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)) == 0;
    // A pipe holds 64 KiB, and the filter has less than 1 KiB. The sandbox can forbid memfd_create.
    int ends[2] = {-1, -1};
    ssize_t length = 0;
    static struct sock_filter instructions[256];
    size_t first = calls_are_reported ? leave_reported_signals(instructions) : 0;
    size_t room = sizeof(instructions) - first * sizeof(struct sock_filter);
    if (done && pipe2(ends, O_CLOEXEC) == 0 && seccomp_export_bpf(filter, ends[1]) == 0)
        length = read(ends[0], instructions + first, room);
    if (ends[0] >= 0) {
        close(ends[0]);
        close(ends[1]);
    }
    seccomp_release(filter);
    // A filter that fills the buffer was cut.
    if (length <= 0 || length >= (ssize_t)room)
        return false;
    no_fork_filter.filter = instructions;
    no_fork_filter.len = (unsigned short)(first + (size_t)length / sizeof(struct sock_filter));
    return no_fork_filter.len > 0;
}

/* The filter for tasks that may start processes: without clone3, a task can't start one in the group of
 * another launch or of its template, even if its user may write there. Only clone3 names a group. With
 * ENOSYS,
 * libraries use clone instead. The large filter ends processes that make calls of another architecture. */
static struct sock_filter own_group_instructions[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
static const struct sock_fprog own_group_filter = {
    sizeof(own_group_instructions) / sizeof(own_group_instructions[0]), own_group_instructions};
/* Whether the sandbox of this process filters system calls, and whether the task may start processes. */
static bool calls_are_filtered, starts_processes;

bool isolation_complete_template(int file, struct sandbox *sandbox, char *finding, size_t size) {
    size_t length;
    struct body body = {.bytes = read_all(file, &length)};
    body.length = length;
    close(file);
    if (!sandbox_parse(sandbox, body)) {
        snprintf(finding, size, "the sandbox can't be applied: its settings are malformed");
        return false;
    }
    free((void *)body.bytes);
    bool done = sandbox_restrict(sandbox, finding, size);
    sandbox_remember(sandbox);
    calls_are_filtered = (sandbox->layers & LAYER_SECCOMP) != 0;
    calls_are_reported = sandbox->listener >= 0 && !sandbox->subprocesses;
    return done;
}

bool isolation_enter_task(bool subprocesses, char *finding, size_t size) {
    starts_processes = subprocesses;
    // Clone has already put the process into its group. 1. A new session; the process dies with the launcher.
    setsid();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return refused("prctl(PR_SET_PDEATHSIG)", finding, size);
    // 2. No new processes, and no signals to others; or new processes only in the group of the launch, and
    // signals only among them.
    if (subprocesses) {
        if (!sandbox_enter_scope())
            return refused("landlock_restrict_self", finding, size);
        if (calls_are_filtered && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &own_group_filter) != 0)
            return refused("prctl(PR_SET_SECCOMP)", finding, size);
    } else {
        if (no_fork_filter.len == 0 && !isolation_prepare_no_fork()) {
            snprintf(finding, size, "the seccomp filter that forbids new processes can't be built");
            return false;
        }
        set_own_number(&no_fork_filter);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &no_fork_filter) != 0)
            return refused("prctl(PR_SET_SECCOMP)", finding, size);
    }
    return true;
}

/* The filter against Landlock: the calls fail as on a kernel where it is switched off. */
static struct sock_filter rules_instructions[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_add_rule, 1, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_restrict_self, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
static const struct sock_fprog rules_filter = {sizeof(rules_instructions) / sizeof(rules_instructions[0]),
                                               rules_instructions};

/* The same for a task that starts no processes, and against filters of its own, as on a kernel without
 * seccomp: each thread can have many, and no limit counts their memory. Programs that a task starts may need
 * them. */
static struct sock_filter filters_instructions[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 6, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_add_rule, 5, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_restrict_self, 4, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 4, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 4),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 1, 2),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
static const struct sock_fprog filters_filter = {
    sizeof(filters_instructions) / sizeof(filters_instructions[0]), filters_instructions};

bool isolation_forbid_rules(void) {
    const struct sock_fprog *filter = starts_processes ? &rules_filter : &filters_filter;
    // The control thread gets the filter, too: the code of a plugin can make any thread run it.
    return !calls_are_filtered ||
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, filter) == 0;
}

bool isolation_arrange_descriptors(const int *descriptors, int count) {
    int moved[8];
    // Move all descriptors above the target numbers first, so that none is overwritten before it was moved.
    for (int i = 0; i < count; i++) {
        moved[i] = fcntl(descriptors[i], F_DUPFD_CLOEXEC, count);
        if (moved[i] < 0)
            return false;
    }
    for (int i = 0; i < count; i++)
        if (dup3(moved[i], i, i < 3 ? 0 : O_CLOEXEC) < 0)
            return false;
    return close_range((unsigned)count, ~0u, 0) == 0;
}
