/* The present activity of the task. A signal handler reads it, so it consists of pointers to ready texts. */
#include "activity.h"

#include <stdatomic.h>
#include <stddef.h>

static _Atomic(const char *) of_task;
static _Thread_local const char *of_thread;

void activity_set(const char *text, bool is_own) {
    if (is_own)
        of_thread = text;
    else
        atomic_store(&of_task, text);
}

const char *activity_now(void) {
    return of_thread != NULL ? of_thread : atomic_load(&of_task);
}
