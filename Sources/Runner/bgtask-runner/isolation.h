/* The isolation of templates and tasks. The steps must be applied in this order. */
#ifndef BGTASK_RUNNER_ISOLATION_H
#define BGTASK_RUNNER_ISOLATION_H

#include "sandbox.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

/** The method by which all processes of a launch are killed; with NO_FORK the task is the only one, because a
 * filter refuses others. */
enum isolation { ISOLATION_CGROUP, ISOLATION_PID_NAMESPACE, ISOLATION_NO_FORK };

/** Converts the protocol's word to a method; false if the word is unknown. */
bool isolation_parse(const char *word, enum isolation *isolation);

struct limit_setting {
    int resource;
    struct rlimit limit;
};

/** The settings of a template and of each of its tasks. */
struct settings {
    char *directory; /**< The working directory. */
    struct limit_setting *limits;
    size_t limit_count;
    int niceness;
    bool batch;   /**< Whether the scheduling class is SCHED_BATCH. */
    bool idle_io; /**< Whether the I/O scheduling class is idle. */
    struct sandbox sandbox;
    struct body message; /**< A copy of the *template* message, for sandbox_receive. */
};

/** Isolates the calling process as a template, except for the layers that forbid to execute a program. Must
 * be called before exec. If a step fails, returns false with a sentence in `finding`; the process must then
 * end. */
bool isolation_enter_template(const struct settings *settings, char *finding, size_t size);

/** Makes a descriptor from which the executed program reads the *template* message with
 *  isolation_complete_template. Returns -1 with errno on failure. */
int isolation_message(const struct settings *settings);

/** Completes the isolation of a template, or of a fresh task, after exec: reads the message at `file`,
 *  closes it and restricts the files and calls. No code of a plugin may run earlier. `sandbox` then is what
 *  the message says. If a step fails, returns false with a sentence in `finding`; the process must then
 *  end. */
bool isolation_complete_template(int file, struct sandbox *sandbox, char *finding, size_t size);

/** Builds the seccomp filter for tasks that may neither start processes nor send signals to others. Called
 *  once, in a template. False if there is no memory. */
bool isolation_prepare_no_fork(void);

/** Isolates the calling process as a task; must be called immediately after the clone. `subprocesses` says
 *  whether the task may start processes. If a step fails, returns false with a sentence in `finding`; the
 *  process must then end. */
bool isolation_enter_task(bool subprocesses, char *finding, size_t size);

/** Forbids Landlock to all threads of this process: the memory of its rules counts for no limit, and a rule
 * keeps a file that was deleted. If the task may start no processes, also forbids further filters of calls,
 * whose memory counts for no limit either. Called after sandbox_enter_launch. Does nothing without a filter
 * of calls.
 * On failure, returns false. */
bool isolation_forbid_rules(void);

/** Moves `descriptors[i]` to number i, for each i below `count` (at most 8), and closes all others.
 *  Descriptors from 3 on are close-on-exec, so that a program that a handler starts does not get the
 *  runner's pipes. */
bool isolation_arrange_descriptors(const int *descriptors, int count);

#endif
