/* What the parts of the launcher share. One thread, one loop; nothing here blocks but the clone itself. */
#ifndef BGTASK_RUNNER_LAUNCHER_H
#define BGTASK_RUNNER_LAUNCHER_H

#include "frames.h"
#include "isolation.h"
#include "outbox.h"
#include "template.h"

#include <sys/resource.h>
#include <sys/types.h>

/** How long after a kill processes that are still there are reported as unkillable. */
#define UNKILLABLE_AFTER_NANOSECONDS 5000000000
/** How long tasks may end themselves when the host is gone. */
#define DRAIN_NANOSECONDS 2000000000

/** A task of a template that is made before its launch is known; at most one of each. */
struct standby {
    enum { STANDBY_NONE, STANDBY_ASKED, STANDBY_WAITS } state;
    char *cgroup; /**< The group it is in; a spawn that names it takes it. */
    bool subprocesses;
    pid_t pid;
    int pidfd, socket; /**< Of one that there is, or that was asked for. */
};

/** A template as the launcher sees it: what it is started with, its process, its socket. */
struct template {
    struct template *next;
    uint64_t id;
    char *library;    /**< NULL for call programs. */
    char *cgroup;     /**< The template's own group; NULL without. */
    char *executable; /**< What it and its fresh tasks are executed from. */
    char **environment;
    struct settings settings;
    enum isolation isolation;
    pid_t pid;  /**< 0 once reaped. */
    int pidfd;  /**< -1 once reaped. */
    int socket; /**< Packets of template.h; -1 once closed. */
    bool answered, cloneable, retired;
    unsigned awaited; /**< Clones asked for and not answered. */
    struct standby standby;
};

/** A launch from its spawn frame to its exited frame. */
struct launch {
    struct launch *next;
    uint64_t id;
    uint64_t template_id;
    enum isolation isolation;
    bool awaits_clone; /**< A template has been asked and has not answered. */
    pid_t pid;         /**< The task's, or its namespace's init's; 0 before. */
    int pidfd;         /**< -1 before it is known and after the reaping. */
    int group;         /**< The cgroup's directory; -1 without. */
    int status_pipe;   /**< Read end of a namespace's status; -1 without. */
    int host_ends[4];  /**< Ends of the pipes that go to the host; -1 once sent. */
    uint64_t given;    /**< Bytes of its start that its control pipe has taken. */
    bool reaped, killed, told_unkillable;
    int64_t kill_time; /**< When it was killed first, CLOCK_MONOTONIC nanoseconds. */
    int wait_status;
    struct rusage usage;
    uint64_t leftovers;
};

/** The launcher. */
struct launcher {
    struct template *templates;
    struct launch *launches;
    struct outbox outbox;
    struct frame_reader reader;
    struct frame_writer writer;
    bool draining;
    int64_t drain_deadline;
};

/** `bgtask-runner launcher [--lock FILE]`: descriptor 3 is the host's socket. Returns the exit status. */
int launcher_main(const char *lock_path);

/* The files below call downwards in this order: launcher, spawning and preparing, templates, standbys, launches,
 * orphans, groups, reports. */

/* launcher_reports.c */

/** Sends a frame of a number and a text: template failed, spawn failed. */
void launcher_report(struct launcher *launcher, uint8_t kind, uint64_t id, const char *finding);

/* launcher_templates.c */

/** Obeys *template*: keeps the settings and starts its process. */
void templates_add(struct launcher *launcher, struct body body);
struct template *templates_find(struct launcher *launcher, uint64_t id);
/** Reads the answers that a template's socket holds. */
void templates_read(struct launcher *launcher, struct template *template);
/** Asks a template for a clone. The descriptors stay the caller's. */
bool templates_ask(struct template *template, const struct clone_request *request, const int *descriptors,
                   int count);
/** Obeys *retire*: no more spawns; it ends when it has answered what it was asked. */
void templates_retire(struct launcher *launcher, struct template *template);
void templates_kill(struct template *template);
/** Reaps templates that have ended, reports it, and forgets those that are not needed. */
void templates_reap(struct launcher *launcher);

/* launcher_preparing.c */

/** Obeys *prepare*: asks the template for a standby, and answers when there is one, or why there is none. */
void standbys_prepare(struct launcher *launcher, struct body body);

/* launcher_standbys.c */

/** Closes what is held of a standby, whatever its state, and forgets it. */
void standbys_forget(struct standby *standby);
/** Answers *prepare*; `finding` says why there is none, NULL that there is one. */
void standbys_answer(struct launcher *launcher, uint64_t template, const char *finding);
/** Takes the template's answer: the standby's pid and pidfd, or 0 and why not. */
void standbys_cloned(struct launcher *launcher, struct template *template, pid_t pid, int pidfd,
                     const char *finding);
/** Gives a launch the template's standby, if it waits in this group; the pipes stay the caller's. False: there is none. */
bool standbys_take(struct launcher *launcher, struct launch *launch, struct template *template,
                   const char *cgroup, bool subprocesses, const int *pipes);
/** Ends a template's standby; it is reaped as an orphan. */
void standbys_end(struct template *template);
/** Forgets a standby that has ended by itself. */
void standbys_reap(struct template *template);

/* launcher_spawning.c */

/** Obeys *spawn*. */
void launches_spawn(struct launcher *launcher, struct body body);

/* launcher_launches.c */

/** Takes the task of a launch: its pid and pidfd, or 0 and why there is none. */
void launches_cloned(struct launcher *launcher, struct launch *launch, pid_t pid, int pidfd,
                     const char *finding);
struct launch *launches_find(struct launcher *launcher, uint64_t id);
/** Closes what is held of a launch and frees it. */
void launches_forget(struct launcher *launcher, struct launch *launch);
/** Closes a descriptor that may be -1, and makes it -1. */
void close_descriptor(int *descriptor);
/** Kills everything of a launch. Again and again is allowed. */
void launches_kill(struct launch *launch);
/** Reaps tasks, and finishes launches whose group is empty. */
void launches_reap(struct launcher *launcher);
/** Milliseconds until launches_reap must be called again; -1: not before a SIGCHLD. */
int launches_timeout(const struct launcher *launcher);

/* launcher_orphans.c */

/** Reaps children that belong to no launch and no template: orphans of tasks. */
void launches_reap_orphans(struct launcher *launcher);
/** Kills children that belong to no launch and no template. */
void launches_kill_orphans(struct launcher *launcher);

/* launcher_groups.c: those of a launch answer for one without a group as for one whose group is empty. */

/** Writes one of the group's files; false with errno. */
bool group_write(const struct launch *launch, const char *name, const char *text);
/** Kills everything in a group, by its path. */
void group_kill(const char *path);
bool group_is_empty(const struct launch *launch);
/** Processes in the group now; "many" where there are too many to count. */
uint64_t group_count(const struct launch *launch);

#endif
