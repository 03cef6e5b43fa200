/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the running call program; there is one per process. */
#ifndef BGTASK_RUNNER_CALL_MACHINE_H
#define BGTASK_RUNNER_CALL_MACHINE_H

#include "activity.h"
#include "bgtask.h"
#include "call_program.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct call_machine {
    bgtask_task *task;
    const bgtask_host *host;
    call_program program;
    /** Held while a name changes, during a step that ends a name, and during the call for expiration, so
     *  that this call never uses a name that is only partly bound or that is being ended. */
    pthread_mutex_t lock;
    /** The number of steps and callback calls that were reported as indeterminate progress. */
    atomic_llong ticks;
    /** The step that runs, its position in its loop (0 outside of loops), and the round of the loop; counted
     *  from 1. */
    unsigned step, inner;
    uint32_t round;
    /** Whether a callback reports completed units; then finished steps are not reported as progress. */
    bool has_units;
} call_machine;

/** The text of the last failure. It is thread-local, so that the control thread does not overwrite the
 *  main thread's text. */
extern _Thread_local char call_failure[1000];

/** The result of a call. */
typedef struct call_result {
    call_storage value;
    int error; /* errno immediately after the call */
} call_result;

/** Makes the callbacks' closures. On failure, returns false with the reason in `call_failure`. */
bool call_make_callbacks(call_machine *machine);

/** Whether every name that the call uses has a value, and no such value is NULL. The caller holds the lock
 *  or runs on the main thread. */
bool call_is_usable(const call_machine *machine, const call_invocation *call);

/** Prepares the arguments, makes the call and binds the names of its results. On failure, returns false
 *  with the reason in `call_failure`. `holds_lock` says whether the caller holds the lock. */
bool call_invoke(call_machine *machine, call_invocation *call, bool holds_lock, call_result *result);

/** Binds a name to memory of a known size, which is constant for a mapped file. */
void call_bind_memory(call_machine *machine, uint16_t name, void *address, size_t size, bool is_constant,
                      bool holds_lock);

/** Reads a member of a struct. On failure, returns false with the reason in `call_failure`. */
bool call_read_field(const call_machine *machine, const call_field *field, call_storage *value);

/** Sets a member of a struct. On failure, returns false with the reason in `call_failure`. */
bool call_write_field(const call_machine *machine, const call_field *field, const call_value *source);

/** Writes the place of the present step: "step 3" or "step 3.1, round 7". */
void call_describe_place(const call_machine *machine, char *text, size_t size);

/** Writes a call with its arguments: "step 3: abs(-5)". */
void call_describe_call(const call_machine *machine, const call_invocation *call, const call_storage *values,
                        const call_type *types, char *text, size_t size);

/** Binds a name to a value. `holds_lock` says whether the caller holds the lock. */
void call_bind(call_machine *machine, uint16_t name, call_type type, const call_storage *value,
               bool holds_lock);

#endif
