/* Functions of the host table that have their own files. bgtask.h describes the contract of each. */
#ifndef BGTASK_RUNNER_HOST_FUNCTIONS_H
#define BGTASK_RUNNER_HOST_FUNCTIONS_H

#include "bgtask.h"
#include "task_state.h"

/** The largest number of bytes in a title or a subtitle. */
#define TITLE_MAX 1024

/* host_table.c: calls that wait for the host's answer */
/** Copies a text to `why`, unless that is NULL. */
void say_why(char *why, size_t size, const char *text);
/** Begins the frame of a call and adds the call to the waiting ones. On failure, returns NULL and sets
 *  `call->error`. */
struct frame_writer *call_begin(bgtask_task *task, struct waiting_call *call, uint8_t kind);
/** Sends the frame and waits for the reply. The caller must free `text` and `copy`. */
void call_end(bgtask_task *task, struct waiting_call *call, struct frame_writer *writer);
/** Copies the reason of a refusal to `why`. */
void say_outcome(const struct waiting_call *call, char *why, size_t size);
/** Whether a call waits without whose reply the process may not end. The caller holds the lock. */
bool has_busy_calls(const bgtask_task *task);

/* host_sessions.c */
/** The extension BGTASK_SESSIONS. */
extern const bgtask_sessions sessions_table;

/* host_words.c */
void host_log(bgtask_task *task, bgtask_log_level level, const char *message);
void host_log_as(bgtask_task *task, bgtask_log_level level, const char *subsystem, const char *category,
                 const char *message);
void host_advise(bgtask_task *task, const char *code, const char *message);
void host_fault(bgtask_task *task, const char *code, const char *message);
void host_set_title(bgtask_task *task, const char *title, const char *subtitle);

/* host_conditions.c */
void host_conditions(bgtask_task *task, bgtask_conditions *conditions);
void host_set_conditions_handler(bgtask_task *task, bgtask_conditions_handler handler, void *context);

#endif
