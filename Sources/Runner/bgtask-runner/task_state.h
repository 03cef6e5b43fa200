/* The state of the process's only task, which its parts share. */
#ifndef BGTASK_RUNNER_TASK_STATE_H
#define BGTASK_RUNNER_TASK_STATE_H

#include "bgtask.h"
#include "frames.h"

#include <pthread.h>
#include <semaphore.h>

/** A call that waits for its reply. It is stored on the caller's stack. */
struct waiting_call {
    struct waiting_call *next;
    uint64_t id;
    bool answered;
    bool idle; /**< The process may end without the reply. */
    bgtask_error error;
    char *text;    /**< The reason of a refusal, which the caller frees; NULL if none. */
    uint8_t *copy; /**< The reply's body, for its nested bodies; the caller frees it. */
    size_t length;
};

struct bgtask_task {
    bgtask_launch launch;
    bool debug;
    int64_t assertion_allowance; /**< In nanoseconds. */
    const uint8_t *program;      /**< A call program; NULL for a plugin or a command. */
    size_t program_length;
    struct body command; /**< The *command* message; its bytes are NULL for a plugin or a call program. */
    void *library;       /**< The plugin's handle from dlopen; NULL for a call program or a command. */
    struct frame_reader reader; /**< Of the control pipe; the main thread uses it until the control thread
                                 *   starts. */
    sem_t may_enter;            /**< Posted once, when `ruleset` is set. */
    sem_t has_entered;          /**< Posted once, when `ruleset` holds for the control thread. */
    sem_t may_hear;             /**< Posted once, when the control thread may read the control pipe. */
    int wake;                   /**< An eventfd that wakes the control thread. */
    int ruleset;                /**< For sandbox_enter_launch. */

    /** Guards all members below. It is never held during a call of the plugin or a wait for the report
     *  pipe. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /**< Signalled after completion, replies, ends of assertions, and the end of
                             *   the host. Uses CLOCK_MONOTONIC. */
    bool completed, done_sent;
    bool has_exit_status; /**< Whether a command's program has ended by itself. */
    uint8_t exit_status;
    int64_t completed_at;
    bool expiring, handler_called, handler_returned, host_gone;
    bgtask_expiration expiration;
    bgtask_expiration_handler handler;
    void *handler_context;
    int expiration_descriptor; /**< -1 until the handler requests it. */
    bool listened;             /**< Whether a handler was ever set, or the descriptor requested. */
    bool polled;               /**< Whether `expired` was called. */
    bool settled;              /**< Whether the expiration handler was removed, or an app reported that it
                                *   sets none. */
    bool is_app;               /**< Whether launch code runs before the handler. */
    int64_t run_at; /**< When the plugin's `run` was called, in nanoseconds on CLOCK_MONOTONIC; 0 before. */
    bgtask_conditions conditions;
    bgtask_conditions_handler conditions_handler;
    void *conditions_context;
    uint64_t last_call, last_assertion;
    struct waiting_call *calls;
    uint64_t *assertions; /**< The open assertions. */
    size_t assertion_count, assertion_room;
};

/** The only task of the process. */
extern struct bgtask_task the_task;
/** The functions that a plugin receives. */
extern const bgtask_host host_table;

/** Creates the control thread, which waits for control_start. On failure, returns false and sets errno. */
bool control_prepare(bgtask_task *task);
/** Lets the control thread restrict itself to `ruleset`. */
void control_enter(bgtask_task *task);
/** Waits until it has, and closes the ruleset. Must come before the plugin's code, which could close the
 *  descriptor, or put weaker rules in its place. */
void control_await_entry(bgtask_task *task);
/** Lets the control thread read messages from the host: expire, replies, and the end of the host. */
void control_start(bgtask_task *task);
/** Wakes the control thread, so that it calls a late expiration handler and sends progress that is due. */
void control_wake(bgtask_task *task);

/** Stores the conditions that the host sent, and calls the conditions handler if they changed. Called on
 *  the control thread or, before that starts, on the main thread. */
void conditions_take(bgtask_task *task, struct body body);

/** Sends the last progress and *done*; only the first call has an effect. `unstarted` means that an
 *  expiration found no handler to call. The message then also says whether the handler had enough time to
 *  listen and did not. */
void task_complete(bgtask_task *task, bool success, const char *message, bool unstarted);

/** Keeps the exit status of a command's program, which *done* will tell. */
void task_note_exit_status(bgtask_task *task, uint8_t status);

#endif
