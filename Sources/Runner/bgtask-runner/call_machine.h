/* SPDX-License-Identifier: Apache-2.0 */
/* The running call program: one per process. */
#ifndef BGTASK_RUNNER_CALL_MACHINE_H
#define BGTASK_RUNNER_CALL_MACHINE_H

#include "bgtask.h"
#include "call_program.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct call_machine {
    bgtask_task *task;
    const bgtask_host *host;
    call_program program;
    /** Held while a name changes, during steps that end one, and during onExpiration: that call never sees a name
     *  that is half bound or about to die. */
    pthread_mutex_t lock;
    /** Ticks of indeterminate progress. */
    atomic_llong ticks;
    /** Whether a callback tells real units, so that ticks of steps would only disturb. */
    bool has_units;
} call_machine;

/** The last failure's text; onExpiration's on the control thread never touches the main thread's. */
extern _Thread_local char call_failure[1000];

/** A call's result. */
typedef struct call_result {
    call_storage value;
    int error; /* errno right after the call */
} call_result;

/** Makes the callbacks' code. False with the reason in `call_failure`. */
bool call_make_callbacks(call_machine *machine);

/** Whether every name that the call uses lives, and is no NULL pointer. Under the lock, or on the main thread. */
bool call_is_usable(const call_machine *machine, const call_invocation *call);

/** Makes a call: arguments, the call itself, and binding of what came out. False with the reason in `call_failure`.
 *  `holds_lock` is true where the caller holds the lock. */
bool call_invoke(call_machine *machine, const call_invocation *call, bool holds_lock, call_result *result);

/** Binds a name to a value. */
void call_bind(call_machine *machine, uint16_t name, call_type type, const call_storage *value,
               bool holds_lock);

#endif
