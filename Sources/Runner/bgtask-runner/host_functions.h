/* Functions of the host table that have their own files. bgtask.h describes the contract of each. */
#ifndef BGTASK_RUNNER_HOST_FUNCTIONS_H
#define BGTASK_RUNNER_HOST_FUNCTIONS_H

#include "bgtask.h"

/** The largest number of bytes in a title or a subtitle. */
#define TITLE_MAX 1024

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
