/* The one task of a task process, as its parts share it. */
#ifndef BGTASK_RUNNER_TASK_STATE_H
#define BGTASK_RUNNER_TASK_STATE_H

#include "bgtask.h"
#include "frames.h"

#include <pthread.h>
#include <semaphore.h>

/** A call of the host table that waits for its reply; lives on the caller's stack. */
struct waiting_call {
    struct waiting_call *next;
    uint64_t id;
    bool answered;
    bgtask_error error;
    char *text;    /**< Why not; the caller frees it. NULL if none. */
    uint8_t *copy; /**< The reply's body, for what is nested in it; the caller frees it. */
    size_t length;
};

struct bgtask_task {
    bgtask_launch launch;
    bool debug;
    int64_t assertion_allowance; /**< Nanoseconds. */
    const uint8_t *program;      /**< A call program; NULL for a plugin. */
    size_t program_length;
    void *library;              /**< The loader's handle of the plugin; NULL for a call program. */
    struct frame_reader reader; /**< The control pipe: the main thread's until the control thread starts. */
    sem_t may_hear;             /**< Posted once, when the control pipe becomes the control thread's. */
    int wake;                   /**< An eventfd that makes the control thread look around. */

    /** Guards all below. Never held while the plugin or the report pipe is waited for. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /**< Completion, assertions, replies, the host's end. CLOCK_MONOTONIC. */
    bool completed, done_sent;
    int64_t completed_at;
    bool expiring, handler_called, handler_returned, host_gone;
    bgtask_expiration expiration;
    bgtask_expiration_handler handler;
    void *handler_context;
    int expiration_descriptor; /**< -1 until the handler asks for it. */
    bool listened;             /**< A handler was set once, or the descriptor asked for. */
    bool polled;               /**< It has looked whether it expires. */
    bool settled;              /**< The handler was taken away, or an app says that it sets none for now. */
    bool is_app;               /**< Launch code of its own runs before the handler does. */
    int64_t run_at; /**< When the plugin's run was called; 0 before. CLOCK_MONOTONIC nanoseconds. */
    bgtask_conditions conditions;
    bgtask_conditions_handler conditions_handler;
    void *conditions_context;
    uint64_t last_call, last_assertion;
    struct waiting_call *calls;
    uint64_t *assertions; /**< The live ones. */
    size_t assertion_count, assertion_room;
};

/** The process's task. */
extern struct bgtask_task the_task;
/** The functions that a plugin gets. */
extern const bgtask_host host_table;

/** Makes the control thread, which waits for control_start. False with errno. */
bool control_prepare(bgtask_task *task);
/** Lets the control thread receive messages of the host: expire, replies, the host's end. */
void control_start(bgtask_task *task);
/** Makes the control thread look at the expiration handler and the progress that is due. */
void control_wake(bgtask_task *task);

/** Keeps what the host says of the machine, and tells the conditions handler if it changed: the control thread, or
 *  the main thread before it. */
void conditions_take(bgtask_task *task, struct body body);

/** Sends *done*, with the last progress before it, once. `unstarted`: an expiration found nothing to call; then the
 *  message also says whether the handler had the time to listen and did not. */
void task_complete(bgtask_task *task, bool success, const char *message, bool unstarted);

#endif
