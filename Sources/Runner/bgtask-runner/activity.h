/* What the task does at the moment, in words, for the report of a crash. */
#ifndef BGTASK_RUNNER_ACTIVITY_H
#define BGTASK_RUNNER_ACTIVITY_H

#include <stdbool.h>

/** Sets what the task does, or NULL for nothing that could be said. The text must exist until it is replaced.
 *  With `is_own`, it is only about the calling thread; otherwise, it is also about the threads without a text
 *  of their own, because a library may work on them. */
void activity_set(const char *text, bool is_own);

/** What the calling thread does, or else the task; NULL if nothing is known. Async-signal-safe. */
const char *activity_now(void);

#endif
