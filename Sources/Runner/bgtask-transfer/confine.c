#include "confine.h"
#include "../bgtask-runner/sandbox.h"

#include <errno.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* Forbids new processes; threads are permitted, because libcurl looks names up on them. */
static bool forbid_processes(char *finding, size_t size) {
    scmp_filter_ctx rules = seccomp_init(SCMP_ACT_ALLOW);
    int result = rules == NULL ? -ENOMEM : 0;
    if (result == 0)
        result = seccomp_rule_add(rules, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                  SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
    // Its flags are in memory that a filter can't read. The C library then calls clone.
    if (result == 0)
        result = seccomp_rule_add(rules, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    // This program never waits for connections.
    if (result == 0)
        result = seccomp_rule_add(rules, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(listen), 0);
    if (result == 0)
        result = seccomp_load(rules);
    seccomp_release(rules);
    errno = -result;
    return result == 0 || sandbox_refused("the filter against new processes", finding, size);
}

bool confine(unsigned layers, uint32_t user, char *directory, char *finding, size_t size) {
    struct sandbox sandbox = {.layers = layers,
                              .user = user,
                              .write = {.items = &directory, .count = 1},
                              .network = NETWORK_ALL,
                              .observe = OBSERVE_NONE,
                              .listener = -1};
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (!sandbox_drop_privileges(&sandbox, finding, size) || !sandbox_restrict(&sandbox, finding, size))
        return false;
    return !(layers & LAYER_SECCOMP) || forbid_processes(finding, size);
}
