/* What confines a template and a task, in the order in which it must be applied. */
#ifndef BGTASK_RUNNER_ISOLATION_H
#define BGTASK_RUNNER_ISOLATION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

/** How all processes of a launch are killed at once. */
enum isolation { ISOLATION_CGROUP, ISOLATION_PID_NAMESPACE, ISOLATION_NO_FORK };

/** Reads the protocol's word; false if it is not one. */
bool isolation_parse(const char *word, enum isolation *isolation);

struct limit_setting {
    int resource;
    struct rlimit limit;
};

/** What a template, and each task of it, lives under. */
struct settings {
    char *directory; /**< Working directory. */
    struct limit_setting *limits;
    size_t limit_count;
    int niceness;
};

/** Confines the calling process as a template; before its exec, so before anything of a plugin runs.
 *  False, with a sentence in `finding`, if a step is refused: the process must end then. */
bool isolation_enter_template(const struct settings *settings, char *finding, size_t size);

/** Builds the filter of a task that may not make processes, once, in a template. False if memory is short. */
bool isolation_prepare_no_fork(void);

/** Confines the calling process as a task, right after its clone. False, with a sentence in `finding`, if a step is
 *  refused: the process must end then. `subprocesses`: it may fork. */
bool isolation_enter_task(bool subprocesses, char *finding, size_t size);

/** Puts `descriptors[i]` at number i, for i below `count` (at most 8), and closes all others.
 *  Numbers from 3 on close on exec: a program that a handler starts gets none of the runner's pipes. */
bool isolation_arrange_descriptors(const int *descriptors, int count);

#endif
