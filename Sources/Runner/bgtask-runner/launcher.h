/* The declarations that the parts of the launcher share. The launcher has one thread and one loop; nothing
 * blocks, except for clone. */
#ifndef BGTASK_RUNNER_LAUNCHER_H
#define BGTASK_RUNNER_LAUNCHER_H

#include "frames.h"
#include "isolation.h"
#include "outbox.h"
#include "template.h"

#include <sys/resource.h>
#include <sys/types.h>

/** How long after a kill the remaining processes are reported as unkillable. */
#define UNKILLABLE_AFTER_NANOSECONDS 5000000000
/** How long a template may take to answer a request, or to end after it was retired. A clone takes less than
 *  a millisecond; a template takes this long only if its plugin stopped it. */
#define TEMPLATE_ANSWER_NANOSECONDS 5000000000
/** How long tasks may continue after the end of the host. */
#define DRAIN_NANOSECONDS 2000000000

/** A standby: a task that was cloned before its launch is known. Each template has at most one. */
struct standby {
    enum { STANDBY_NONE, STANDBY_ASKED, STANDBY_WAITS } state;
    char *cgroup; /**< The path of its group; a spawn message with this group uses the standby. */
    bool subprocesses;
    pid_t pid;
    int pidfd, socket; /**< -1 if there is none; the socket exists as soon as the template was asked. */
};

/** A template as the launcher sees it: its settings, its process and its socket. */
struct template {
    struct template *next;
    uint64_t id;
    char *library;    /**< NULL for call programs. */
    char *cgroup;     /**< The path of the template's own group; NULL if it has none. */
    char *executable; /**< The program that the template and its fresh tasks execute. */
    char **environment;
    struct settings settings;
    enum isolation isolation;
    pid_t pid;       /**< 0 once reaped. */
    int pidfd;       /**< -1 once reaped. */
    int socket;      /**< The socket for the packets in template.h; -1 once closed. */
    int status_pipe; /**< The read end of its PID namespace's status pipe; -1 if none. */
    bool answered, cloneable, retired;
    bool has_child;         /**< Whether it had one, or its group another process: a clone is neither. */
    bool is_busy;           /**< Whether it used more CPU time than its clones need. */
    bool has_rules;         /**< Whether it held rules of Landlock. */
    int64_t cpu;            /**< Its CPU time at the last look, in nanoseconds; 0 before the first. */
    unsigned asked;         /**< The number of clones that it was asked for since the last look. */
    bool has_sent_listener; /**< Whether the first packet has arrived. */
    unsigned awaited;       /**< The number of clone requests without an answer. */
    bool has_abandoned;     /**< Whether one of them was for a standby that was given up. */
    int64_t deadline; /**< When it is killed unless it answers or ends, on CLOCK_MONOTONIC; 0 for never. */
    struct standby standby;
};

/** A launch, from its *spawn* frame until its *exited* frame is sent. */
struct launch {
    struct launch *next;
    uint64_t id;
    uint64_t template_id;
    enum isolation isolation;
    bool awaits_clone; /**< Whether its template was asked for a clone and has not answered. */
    bool subprocesses; /**< Whether the task may start processes. */
    pid_t pid;         /**< The pid of the task, or of its namespace's init; 0 before. */
    int pidfd;         /**< -1 before the task exists and after it was reaped. */
    int group;         /**< The descriptor of the cgroup's directory; -1 if none. */
    int status_pipe;   /**< The read end of the namespace's status pipe; -1 if none. */
    int host_ends[4];  /**< The host's ends of the pipes; -1 once sent. */
    int counter;    /**< Counts the CPU time of the task and all that it starts; -1 if none or once sent. */
    uint64_t given; /**< Bytes of the start that the control pipe has taken. */
    bool reaped, killed, told_unkillable;
    int64_t kill_time; /**< The time of the first kill, in nanoseconds on CLOCK_MONOTONIC. */
    int64_t last_kill; /**< The time of the last one. */
    int wait_status;
    struct rusage usage;
    uint64_t leftovers;
    struct observed *observed; /**< The calls that were reported, the newest first. */
    unsigned observed_count;
    uint64_t unlisted; /**< Reported calls for which the list had no room. */
};

/** A call that was reported, and how often. */
struct observed {
    struct observed *next;
    char call[32];
    char *subject; /**< What the call is about, such as a path; NULL if unknown. */
    char use[12];  /**< How the call uses the subject, such as "read"; empty if unknown. */
    bool refused;
    uint64_t count;
};

/** A filter that reports calls, and the launcher's end of it. It lives as long as any process has the filter,
 *  which can be longer than its template. */
struct observer {
    struct observer *next;
    struct template *template; /**< NULL for a fresh task, and after the template has ended. */
    uint64_t launch;           /**< The launch of a fresh task; 0 for a template. */
    int socket;             /**< Where the listener arrives; -1 for a template, and after it has arrived. */
    int listener;           /**< -1 before. */
    struct sandbox sandbox; /**< Without its lists. */
    unsigned spent;         /**< What its answers cost in this second, and too much before; see share. */
    bool paused;            /**< Whether calls, or the listener, wait for the next second. */
    size_t source;          /**< Its place among the descriptors that are polled; 0 if it is not polled. */
};

/** A thread that belongs to a launch. */
struct owner {
    pid_t thread, process; /**< 0 if this is unused. */
    uint64_t start;        /**< When the thread began, in clock ticks since the start of the machine. */
    uint64_t launch;
};
/** How many threads are remembered. */
enum { OWNERS = 1024 };

/** The state of the launcher. */
struct launcher {
    struct observer *observers;
    struct template *templates;
    struct launch *launches;
    struct owner owners[OWNERS]; /**< The threads whose launch was looked up. */
    uint64_t lookups;            /**< How many files of /proc were read to answer calls. */
    int64_t second;              /**< When the present second of the answers began. */
    unsigned share;              /**< What the answers to each observer may cost in that second. */
    struct outbox outbox;
    struct frame_reader reader;
    struct frame_writer writer;
    bool draining;
    bool look_for_strays; /**< Whether children may exist that left their group; see launches_kill_strays. */
    int64_t drain_deadline;
    int64_t next_look; /**< When the children of templates are looked at next; 0 without templates. */
    int lock;          /**< The lock file, which is held until this process ends; -1 if none. */
    const char
        *groups; /**< The path of the group above those of all templates and launches; NULL if unknown. */
    int host_process;  /**< The host's pidfd; -1 if it can't be opened, or before the first guardian. */
    pid_t guardian;    /**< 0 if there is none. */
    int guardian_pipe; /**< The guardian reads its end, which is that of this process; -1 if none. */
};

/** Runs `bgtask-runner launcher [--lock FILE] [--groups DIRECTORY]`; descriptor 3 is the socket to the host.
 *  NULL stands for a missing option. Returns the exit status. */
int launcher_main(const char *lock_path, const char *groups);

/* The files below are in layers; each calls only functions of later ones: launcher, watching, starting,
 * spawning and preparing, templates, standbys, counting, launches, observing, observed, orphans, guardian,
 * groups, reports. */

/* launcher_reports.c */

/** Sends *template failed* or *spawn failed*. `code` is the error number of the call that failed, from which
 *  the host learns whether to try again later; 0 if no call failed. */
void launcher_report(struct launcher *launcher, uint8_t kind, uint64_t id, const char *finding, int code);

/* launcher_starting.c */

/** Handles *template*: stores the settings and starts the template's process. */
void templates_add(struct launcher *launcher, struct body body);

/* launcher_templates.c */

struct template *templates_find(struct launcher *launcher, uint64_t id);
/** Reads all answers that have arrived on a template's socket. */
void templates_read(struct launcher *launcher, struct template *template);
/** Sends a clone request to a template. The caller still owns the descriptors. */
bool templates_ask(struct template *template, const struct clone_request *request, const int *descriptors,
                   int count);
/** Handles *retire*: nothing is cloned from the template any more, and it ends after it has answered all
 *  requests. */
void templates_retire(struct launcher *launcher, struct template *template);
void templates_kill(struct template *template);
/** Kills the templates that have not answered or ended in time; the launches that wait for them then fail. */
void templates_kill_overdue(struct launcher *launcher);
/** Every 10 s, kills the templates that use CPU time, hold rules of Landlock, or have a child or another
 *  process in their group, and children of this process that are in no known group. */
void templates_watch(struct launcher *launcher);
/** Milliseconds until templates_watch must be called again; -1 for never. */
int templates_watch_timeout(const struct launcher *launcher);
/** Milliseconds until templates_kill_overdue must be called again; -1 for never. */
int templates_timeout(const struct launcher *launcher);
/** Closes the descriptors of a template that is in no list, and frees it. */
void templates_destroy(struct launcher *launcher, struct template *template);
/** Reaps templates that have ended, reports their ends, and frees those that are not needed any more. */
void templates_reap(struct launcher *launcher);

/* launcher_preparing.c */

/** Handles *prepare*: asks the template for a standby. The answer to the host is sent when there is a
 *  standby or when it fails. */
void standbys_prepare(struct launcher *launcher, struct body body);

/* launcher_standbys.c */

/** Closes the descriptors of a standby in any state, and marks it as absent. */
void standbys_forget(struct standby *standby);
/** Answers *prepare*: `finding` is why there is no standby; NULL means that there is one. */
void standbys_answer(struct launcher *launcher, uint64_t template, const char *finding);
/** Handles the template's answer: the pid and pidfd of the standby, or 0 and the reason for the failure. */
void standbys_cloned(struct launcher *launcher, struct template *template, pid_t pid, int pidfd,
                     const char *finding);
/** Uses the template's standby for a launch, if it waits in this group. The caller still owns the pipes.
 *  Returns false if there is no such standby. */
bool standbys_take(struct launcher *launcher, struct launch *launch, struct template *template,
                   const char *cgroup, bool subprocesses, const int *pipes);
/** Kills a template's standby; it is reaped as an orphan. */
void standbys_end(struct template *template);
/** Reaps a standby that has ended by itself. */
void standbys_reap(struct template *template);

/* launcher_spawning.c */

/** Handles *spawn*. */
void launches_spawn(struct launcher *launcher, struct body body);

/* launcher_counting.c */

/** Opens the counter of the CPU time of a new process and of everything that it will start, if the launch
 * needs one, and lets the process continue. Without a counter, if the kernel refuses it, the host counts what
 * it finds in /proc. `socket` is the launcher's end of the pair that counter_wait reads. */
void counter_open(struct launch *launch, pid_t pid, int socket);
/** Called in the new process: waits until it is counted, so that nothing that it starts is missed. Ends the
 *  process if the launcher ends. `sockets` are the launcher's end and its own. */
void counter_wait(const struct launch *launch, const int *sockets);

/* launcher_launches.c */

/** Handles the result of a clone: the pid and pidfd of the launch's task, or 0, the reason for the failure
 * and its error number. */
void launches_cloned(struct launcher *launcher, struct launch *launch, pid_t pid, int pidfd,
                     const char *finding, int code);
struct launch *launches_find(struct launcher *launcher, uint64_t id);
/** Closes the descriptors of a launch and frees it. */
void launches_forget(struct launcher *launcher, struct launch *launch);
/** Closes a descriptor unless it is -1, and sets it to -1. */
void close_descriptor(int *descriptor);
/** Kills all processes of a launch. May be called repeatedly. */
void launches_kill(struct launch *launch);
/** Reaps tasks, and ends launches whose group is empty. */
void launches_reap(struct launcher *launcher);
/** Milliseconds until launches_reap must be called again; -1 means that it need not be called before a
 *  SIGCHLD. */
int launches_timeout(const struct launcher *launcher);

/* launcher_observing.c */

/** Adds the observer of a template (`listener` is its listener) or of a fresh task (`socket` is where the
 *  listener will arrive). Takes the descriptor. */
void observers_add(struct launcher *launcher, struct template *template, uint64_t launch, int listener,
                   int socket);
/** The descriptor to poll for POLLIN; -1 if it must not be polled now. */
int observers_descriptor(const struct observer *observer);
/** Answers the calls that have been reported; `revents` is what poll returned for the descriptor. May free
 * the observer. */
void observers_read(struct launcher *launcher, struct observer *observer, short revents);
/** Milliseconds until a paused observer continues; -1 if there is none. */
int observers_timeout(const struct launcher *launcher);
/** Forgets a template that is freed. */
void observers_forget(struct launcher *launcher, const struct template *template);

/* launcher_observed.c */

struct seccomp_notif;

/** Whether the memory of the task may be read, which only a learning run needs: a read waits for the task's
 * lock on its memory, and a hostile task can hold that for seconds. All launches would wait with the
 * launcher. */
static inline bool observer_is_learning(const struct observer *observer) {
    return observer->sandbox.observe == OBSERVE_ALL;
}

/** Adds a reported call to the record of a launch. */
void observed_record(struct observer *observer, struct launch *launch, const struct seccomp_notif *report,
                     const struct sandbox_answer *answer);
/** Adds a call that was refused to the record of a launch. */
void observed_record_refusal(struct observer *observer, struct launch *launch,
                             const struct seccomp_notif *report, const char *call, const char *subject);
/** Sends the calls of a launch to the host. */
void observed_send(struct launcher *launcher, const struct launch *launch);
/** Frees the calls of a launch. */
void observed_drop(struct launch *launch);

/* launcher_owners.c */

/** The launch of a thread: that of its process, or of an ancestor, or of its group. NULL if there is none.
 *  `*process` becomes the process. */
struct launch *owners_find(struct launcher *launcher, pid_t thread, pid_t *process);
/** The launch with this number; NULL if it has ended. */
struct launch *owners_launch(const struct launcher *launcher, uint64_t id);

/* launcher_signals.c */

/** Decides about a reported call that sends a signal, and records it if it is refused. Returns false for
 *  other calls. */
bool signals_answer(struct launcher *launcher, struct observer *observer, struct launch *launch,
                    const struct seccomp_notif *report, struct sandbox_answer *answer);

/* launcher_orphans.c */

/** Reaps children that belong to no launch and no template: processes whose parent was a task that has
 *  ended. */
void launches_reap_orphans(struct launcher *launcher);
/** Kills children that belong to no launch and no template. */
void launches_kill_orphans(struct launcher *launcher);
/** Kills children that belong to no launch and no template, and are in no group of a launch or of a template
 *  that is loading: they moved themselves to another cgroup, or the code of a plugin made them in a template.
 *  Does nothing unless `look_for_strays` is set. */
void launches_kill_strays(struct launcher *launcher);
/** The launch in whose group a process is; NULL if there is none. Counts what it reads. */
struct launch *launches_with_group_of(struct launcher *launcher, pid_t pid);
/** Whether a process is a task, a template, a standby or the guardian of this launcher that was not reaped
 *  yet. */
bool launches_own(const struct launcher *launcher, pid_t pid);

/* launcher_guardian.c
 *
 * The kernel kills a task when the launcher dies, but not what the task has started. A living launcher or
 * host kills that. The guardian does it when both were killed. */

/** Starts the guardian, if the path of the groups is known. On failure, returns false and sets errno. */
bool guardian_start(struct launcher *launcher);
/** Reaps a guardian that was killed, and starts another one. */
void guardian_reap(struct launcher *launcher);
/** Ends the guardian, because no process is left that it could kill. It is then an orphan. */
void guardian_dismiss(struct launcher *launcher);

/* launcher_groups.c. A launch without a group is treated like one whose group is empty. */

/** Writes to a file of the group. On failure, returns false and sets errno. */
bool group_write(const struct launch *launch, const char *name, const char *text);
/** Kills all processes in the group of a launch, also those whose first thread has ended. */
void group_kill_processes(const struct launch *launch);
/** Kills all processes in the group with this path, also those whose first thread has ended. */
void group_kill(const char *path);
/** Whether there are processes in the group with this path, or in those below it; also true if that can't be
 *  found out, for example because no descriptor is free. */
bool group_is_populated(const char *path);
/** False also if it can't be found out. */
bool group_is_empty(const struct launch *launch);
/** Reads the path of a process's group from /proc, such as "/bgtask-1/launch-2". */
bool group_read(pid_t pid, char *membership, size_t size);
/** Whether the group with this descriptor, or else with this path, is the one that /proc names so. */
bool group_is(int group, const char *path, const char *membership);
/** Whether the list of the processes in the group with this directory has a process. One that has ended is in
 *  no list. */
bool group_contains(int directory, pid_t pid);
/** Returns the number of processes in the group, but not more than a list of 64 KiB has. */
uint64_t group_count(const struct launch *launch);

#endif
