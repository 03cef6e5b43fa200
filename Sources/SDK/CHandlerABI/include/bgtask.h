/* SPDX-License-Identifier: Apache-2.0
 *
 * bgtask.h: the C ABI between a handler plugin and bgtask-runner. It is the ABI's manual too.
 *
 * A plugin is a shared library that exports one symbol, `bgtask_plugin_entry`. The runner loads the library
 * in an isolated child process, calls that function once, and then calls `run` once: one process, one launch.
 * Nothing of the plugin survives the launch, so nothing needs freeing at its end.
 *
 * Words: a *launch* is one attempt to run one task request; its *lease* is the run time it was granted;
 * *expiration* is the host's call to stop, with a reason and a deadline; at the deadline every process of the
 * launch is killed.
 *
 * Threads. Every function below names one of these:
 *   [any]      callable from any thread, at any time between the call of `run` and the end of the process
 *   [handler]  called on, or to be called from, the process's main thread, on which `run` runs
 *   [control]  called by the runner on its control thread; must return soon, may call any [any] function
 * None of them may be called from a signal handler, nor in a child made by fork.
 *
 * Ownership. Pointers that the runner hands out stay valid until the process ends, unless said otherwise.
 * Pointers that the plugin hands in are copied before the call returns. Strings are NUL-terminated UTF-8.
 *
 * Evolution. Structs carry their size and only grow at the end: test `struct_size` (BGTASK_HAS) before you
 * use a member that is newer than the version you compiled for. The ABI version changes only when that is not
 * enough.
 */
#ifndef BGTASK_H
#define BGTASK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The ABI version this header describes. A plugin of another version ends as `failed`, `loadFailed`. Since 1. */
#define BGTASK_ABI_VERSION 1u

/** The most bytes a checkpoint or a payload may have: 48 KiB. Since 1. */
#define BGTASK_BLOB_MAX 49152u

/** What a push found, as the message of `complete`: something new, or nothing. A push that could not look completes
 *  with success 0. Since 1. */
#define BGTASK_NEW_DATA "newData"
#define BGTASK_NO_DATA "noData"

/** Marks the entry function as exported, whatever -fvisibility says. Since 1. */
#define BGTASK_EXPORT __attribute__((visibility("default")))

/** True if the runner's (or plugin's) struct is new enough to have the member. Since 1. */
#define BGTASK_HAS(pointer, type, member)                                                                    \
    ((pointer)->struct_size >= offsetof(type, member) + sizeof((pointer)->member))

/** What kind of background task a launch is. Values are never reused. Since 1. */
typedef enum bgtask_kind {
    BGTASK_KIND_APP_REFRESH = 1,
    BGTASK_KIND_PROCESSING = 2,
    BGTASK_KIND_CONTINUED_PROCESSING = 3,
    BGTASK_KIND_PUSH = 4,
    BGTASK_KIND_TRANSFER_EVENTS = 5,
    BGTASK_KIND_ACTIVITY = 6,
    /** No task: runs what an app does when it is launched into the background, so that its first requests get
     *  submitted. Only plugins that export `bgtask_app_entry` get one. */
    BGTASK_KIND_APP_LAUNCH = 7
} bgtask_kind;

/** Severity of a log line. Since 1. */
typedef enum bgtask_log_level {
    BGTASK_LOG_DEBUG = 1,
    BGTASK_LOG_INFO = 2,
    BGTASK_LOG_NOTICE = 3,
    BGTASK_LOG_WARNING = 4,
    BGTASK_LOG_ERROR = 5
} bgtask_log_level;

/** What a call of the host table answers: 0, or why it was refused. Since 1. */
typedef enum bgtask_error {
    BGTASK_OK = 0,
    BGTASK_UNAVAILABLE = 1,          /**< The host is gone, or background work is switched off. */
    BGTASK_TOO_MANY_PENDING = 2,     /**< The bundle's limit of pending requests is reached. */
    BGTASK_NOT_PERMITTED = 3,        /**< The manifest does not permit it. */
    BGTASK_IMMEDIATE_INELIGIBLE = 4, /**< `fail` strategy, and it can't start now. */
    BGTASK_TOO_LARGE = 64,           /**< A checkpoint or payload over BGTASK_BLOB_MAX. */
    BGTASK_INVALID_ARGUMENT = 65,    /**< NULL, not UTF-8, or out of range. */
    BGTASK_EXPIRING = 66             /**< Not given once expiration has begun (assertions). */
} bgtask_error;

/** The facts of one launch. Filled by the runner, constant for the life of the process. Since 1. */
typedef struct bgtask_launch {
    size_t struct_size;     /**< sizeof(bgtask_launch) in the runner. Since 1. */
    const char *identifier; /**< The task's full identifier, never a wildcard. Since 1. */
    const char *bundle;     /**< The bundle's id. Since 1. */
    bgtask_kind kind;       /**< Since 1. */
    uint64_t launch_id;     /**< Names the launch in logs and commands ("L42" is 42). Since 1. */
    uint64_t request_id;    /**< Names the request; the same in every attempt. Since 1. */
    uint32_t attempt;       /**< 1, 2, 3 ...; the checkpoint comes from attempt - 1. Since 1. */
    /** Fencing token: grows with every launch of this request, on every host. Write it beside your effects to
     *  refuse a late writer. Since 1. */
    uint64_t fencing_token;
    const void *payload;      /**< The request's payload, JSON text; NULL if none. Since 1. */
    size_t payload_length;    /**< Bytes. Since 1. */
    const void *checkpoint;   /**< What the last attempt saved; NULL if none. Since 1. */
    size_t checkpoint_length; /**< Bytes. Since 1. */
    /** When this identifier last succeeded, milliseconds since 1970 UTC; -1 if never. Since 1. */
    int64_t last_success_milliseconds;
    /** When the lease ends, CLOCK_BOOTTIME nanoseconds; INT64_MAX if it has no end. Power renews leases and
     *  conditions shorten them: plan with it, obey expiration. Since 1. */
    int64_t lease_end_nanoseconds;
    const char *data_directory;      /**< The bundle's own directory, kept between launches. Since 1. */
    const char *temporary_directory; /**< Removed after the launch; TMPDIR too. Since 1. */
    const char *title;               /**< Continued tasks: what the user sees; else "". Since 1. */
    const char *subtitle;            /**< Since 1. */
    /** What the bundle's manifest permits, as written there (continued ones may end in ".*"); NULL ends the
     *  list. Since 1. */
    const char *const *permitted_identifiers;
    /** Their kinds (`bgtask_kind`), in the same order. Since 1. */
    const uint8_t *permitted_kinds;
    /** The manifest's modes ("fetch", "processing", "remote-notification"); NULL ends the list. Since 1. */
    const char *const *modes;
    /** How long assertions keep the process alive after completion, milliseconds. Since 1. */
    int64_t assertion_allowance_milliseconds;
} bgtask_launch;

/** How hot the machine is. Since 1. */
typedef enum bgtask_thermal {
    BGTASK_THERMAL_NOMINAL = 0,
    BGTASK_THERMAL_FAIR = 1,
    BGTASK_THERMAL_SERIOUS = 2,
    BGTASK_THERMAL_CRITICAL = 3
} bgtask_thermal;

/** Where the machine's power comes from. Since 1. */
typedef enum bgtask_power {
    BGTASK_POWER_UNKNOWN = 0,
    BGTASK_POWER_BATTERY = 1,  /**< Unplugged. */
    BGTASK_POWER_CHARGING = 2, /**< Plugged in, the battery fills. */
    BGTASK_POWER_EXTERNAL = 3  /**< Plugged in and full, or no battery at all. */
} bgtask_power;

/** Whether the bundle may refresh in the background. Since 1. */
typedef enum bgtask_refresh {
    BGTASK_REFRESH_RESTRICTED = 0, /**< The administrator said no. */
    BGTASK_REFRESH_DENIED = 1,     /**< The user said no. */
    BGTASK_REFRESH_AVAILABLE = 2
} bgtask_refresh;

/** What the machine is like, as far as handlers may know. Since 1. */
typedef struct bgtask_conditions {
    size_t struct_size;     /**< sizeof(bgtask_conditions) in the runner. Since 1. */
    int32_t low_power_mode; /**< 0 or 1. Since 1. */
    bgtask_thermal thermal; /**< Since 1. */
    bgtask_power power;     /**< Since 1. */
    int32_t battery;        /**< Percent, 0 through 100; -1 unknown or none. Since 1. */
    bgtask_refresh refresh; /**< Since 1. */
    int32_t should_defer;   /**< Activities: 1 once the host would rather have it stop here and go on another
                             *   time; expiration follows when it does not. Since 1. */
    int32_t gpu; /**< 0 or 1: whether a GPU is offered, for continued tasks to ask for. Newer than the
                             *   others: in a struct of the runner's test it with BGTASK_HAS. Since 1. */
} bgtask_conditions;

/** A call to stop: delivered once. Since 1. */
typedef struct bgtask_expiration {
    size_t struct_size; /**< sizeof(bgtask_expiration) in the runner. Since 1. */
    /** One of the words of Documentation/Outcomes.md: "leaseEnded", "cpuLimit", "externalPowerLost", ... New
     *  words appear; treat an unknown one as a plain call to stop. Since 1. */
    const char *reason;
    /** When everything is killed, CLOCK_MONOTONIC nanoseconds. Since 1. */
    int64_t deadline_nanoseconds;
    /** The grace period as granted, milliseconds. Since 1. */
    uint32_t grace_milliseconds;
} bgtask_expiration;

/** A task request that a handler submits. Zero it, set struct_size, then what you need. Since 1. */
typedef struct bgtask_request {
    size_t struct_size;     /**< sizeof(bgtask_request) in the plugin. Since 1. */
    const char *identifier; /**< Required. Since 1. */
    /** Not before, milliseconds since 1970 UTC; 0 for no delay. A floor, never a promise. Since 1. */
    int64_t earliest_begin_milliseconds;
    int32_t requires_external_power;       /**< 0 or 1, added to the manifest's. Since 1. */
    int32_t requires_network_connectivity; /**< 0 or 1, added to the manifest's. Since 1. */
    const void *payload;                   /**< JSON text of an object, or NULL. Since 1. */
    size_t payload_length;                 /**< Bytes, at most BGTASK_BLOB_MAX. Since 1. */
    const char *title;                     /**< Continued tasks: what the user sees; or NULL. Since 1. */
    const char *subtitle;                  /**< Continued tasks; or NULL. Since 1. */
    int32_t fails_unless_immediate;        /**< Continued tasks: 1 is Apple's `fail` strategy. Since 1. */
    int32_t requires_gpu;                  /**< Continued tasks: 0 or 1. Since 1. */
    /** Activities: when its window ends, milliseconds since 1970 UTC; 0 for none. Since 1. */
    int64_t deadline_milliseconds;
    /** The kind that the request is meant for: BGTASK_NOT_PERMITTED if the manifest gives the identifier another
     *  one. 0 takes the manifest's. Since 1. */
    bgtask_kind kind;
} bgtask_request;

/** A pending request, as `pending` lists it. Valid during the callback. Since 1. */
typedef struct bgtask_pending_request {
    size_t struct_size;                    /**< sizeof(bgtask_pending_request) in the runner. Since 1. */
    uint64_t request_id;                   /**< Since 1. */
    const char *identifier;                /**< Since 1. */
    bgtask_kind kind;                      /**< Since 1. */
    int64_t earliest_begin_milliseconds;   /**< 0 if none. Since 1. */
    int32_t requires_external_power;       /**< As submitted. Since 1. */
    int32_t requires_network_connectivity; /**< As submitted. Since 1. */
    const char *title;                     /**< Continued tasks: what the user sees; else "". Since 1. */
    const char *subtitle;                  /**< Since 1. */
} bgtask_pending_request;

/** The running task, opaque. One exists per process. Since 1. */
typedef struct bgtask_task bgtask_task;

/** Called when the launch expires. [control] `context` is what was registered. Since 1. */
typedef void (*bgtask_expiration_handler)(bgtask_task *task, const bgtask_expiration *expiration,
                                          void *context);

/** Called when a condition has changed. [control] `context` is what was registered. Since 1. */
typedef void (*bgtask_conditions_handler)(bgtask_task *task, const bgtask_conditions *conditions,
                                          void *context);

/** Called for each pending request, before `pending` returns, on its thread. Since 1. */
typedef void (*bgtask_pending_visitor)(const bgtask_pending_request *request, void *context);

/** The functions of the runner. Constant for the life of the process. Since 1. */
typedef struct bgtask_host {
    uint32_t abi_version; /**< BGTASK_ABI_VERSION of the runner. Since 1. */
    size_t struct_size;   /**< sizeof(bgtask_host) in the runner. Since 1. */

    /** The launch's facts. Never NULL. [any] Since 1. */
    const bgtask_launch *(*launch)(const bgtask_task *task);

    /** Reports progress. `total` 0 is indeterminate: then `completed` counts ticks. `message` may be NULL (keeps
     *  the last one). Cheap: the runner keeps the newest and sends it at most 20 times a second, the last one
     *  always. Negative numbers are BGTASK_INVALID_ARGUMENT. [any] Since 1. */
    bgtask_error (*progress)(bgtask_task *task, int64_t completed, int64_t total, const char *message);

    /** Writes a line to the host's log, attributed to this launch. Control characters are escaped and lines over
     *  4 KiB cut. stdout and stderr are captured too; this one has a level. [any] Since 1. */
    void (*log)(bgtask_task *task, bgtask_log_level level, const char *message);

    /** Saves a checkpoint: the next attempt of this request gets it. Replaces the one before. It is durable once
     *  the host has stored it, which happens in order with completion; one sent after the host's death is
     * lost.
     *  BGTASK_TOO_LARGE above BGTASK_BLOB_MAX; NULL with length 0 forgets it. [any] Since 1. */
    bgtask_error (*checkpoint)(bgtask_task *task, const void *bytes, size_t length);

    /** Submits a task request; waits for the host's answer. On refusal `why`, if not NULL, gets a sentence that
     *  says what was asked, what decided and what to do (cut to `why_size`). [any] but not [control]. Since 1. */
    bgtask_error (*submit)(bgtask_task *task, const bgtask_request *request, char *why, size_t why_size);

    /** Cancels the pending request of an identifier, or, with NULL, all of this bundle's. Running launches go on.
     *  Waits for the answer; nothing pending is BGTASK_OK. [any] but not [control]. Since 1. */
    bgtask_error (*cancel)(bgtask_task *task, const char *identifier);

    /** Visits this bundle's pending requests. [any] but not [control]. Since 1. */
    bgtask_error (*pending)(bgtask_task *task, bgtask_pending_visitor visitor, void *context);

    /** Begins an assertion: keeps the process alive after completion until it is ended, about 30 s at most.
     *  Stores its id, never 0, in `assertion`. BGTASK_EXPIRING (and 0) once expiration has begun. `name` is
     * shown
     *  in reports. [any] Since 1. */
    bgtask_error (*begin_assertion)(bgtask_task *task, const char *name, uint64_t *assertion);

    /** Ends an assertion. Ending it twice, or ending 0, does nothing. [any] Since 1. */
    void (*end_assertion)(bgtask_task *task, uint64_t assertion);

    /** Completes the task. The first call counts, later ones are ignored. `message` may be NULL. When it returns
     *  the host knows it; the process should end soon after, and is ended when `run` has returned and no
     *  assertion is left. A process that is still there 5 s later (35 s while it holds an assertion) is
     *  killed; the outcome stands. A push says BGTASK_NEW_DATA or BGTASK_NO_DATA as its message, for the
     *  launch's
     *  record. [any] Since 1. */
    void (*complete)(bgtask_task *task, int32_t success, const char *message);

    /** Sets, replaces or (NULL) clears the expiration handler. If expiration has begun already, and the task is
     *  not complete, it is called at once. Without handler and without expiration descriptor an expiring task
     *  is ended at once; unless it was only beginning, or polls with `expired`, that is its end, and it is
     *  not put back. It is called at most once, on the control thread; `complete` may be called from it. A
     *  process whose `run` returns meanwhile stays until it has returned.
     *  [any] Since 1. */
    void (*set_expiration_handler)(bgtask_task *task, bgtask_expiration_handler handler, void *context);

    /** A descriptor that becomes and stays readable when the launch expires, for poll, epoll or kqueue loops. Do
     *  not read or close it. Asking for it counts as having an expiration handler. -1 if none could be made.
     *  [any] Since 1. */
    int (*expiration_descriptor)(bgtask_task *task);

    /** Copies the expiration into `expiration` (set its struct_size first) and returns 1; returns 0 while the
     *  launch is not expiring. The way to poll from a loop. `expiration` may be NULL. [any] Since 1. */
    int (*expired)(bgtask_task *task, bgtask_expiration *expiration);

    /** An extension's table by its string id ("example.extension/1"), NULL if this runner does not know it. No
     *  extension exists in version 1. [any] Since 1. */
    const void *(*extension)(bgtask_task *task, const char *identifier);

    /** As `log`, with the names that readers filter by, cut at 256 bytes; either may be NULL. [any] Since 1. */
    void (*log_as)(bgtask_task *task, bgtask_log_level level, const char *subsystem, const char *category,
                   const char *message);

    /** Advises the author of the plugin something about the plugin that no launch is the place for: the host shows it
     *  once per version of the library, code and message, in its log and in `bgtask plugins`. `code` is one
     *  word, `message` a sentence that says what was found and what to do; they are cut at 128 bytes and 1
     *  KiB. A
     *  launch may give 100. [any] Since 1. */
    void (*advise)(bgtask_task *task, const char *code, const char *message);

    /** Says why the process ends itself, before it does: `code` is Apple's word for it ("0x8badf00d",
     *  "NSInternalInconsistencyException"), `message` becomes the message of the launch's end. They are cut
     * at 128
     *  bytes and 4 KiB. The caller then aborts. Only the first call counts. [any] Since 1. */
    void (*fault)(bgtask_task *task, const char *code, const char *message);

    /** Copies what the machine is like into `conditions` (set its struct_size first): as the host said last, which
     *  it does before `run` and at every change. [any] Since 1. */
    void (*conditions)(bgtask_task *task, bgtask_conditions *conditions);

    /** Sets, replaces or (NULL) clears the function that is called when a condition changes. What changed before is
     *  not told: ask `conditions` after setting it. While it runs no expiration is delivered. [any] Since 1. */
    void (*set_conditions_handler)(bgtask_task *task, bgtask_conditions_handler handler, void *context);

    /** Replaces what the user sees of a continued task; cut at 1 KiB each, NULL is "". [any] Since 1. */
    void (*set_title)(bgtask_task *task, const char *title, const char *subtitle);

    /** The address of a symbol that the plugin's library exports, or one of the libraries that it needs; NULL if
     *  there is none. For language bindings that are linked into plugins. [any] Since 1. */
    void *(*symbol)(bgtask_task *task, const char *name);
} bgtask_host;

/** What a plugin's entry function returns. Since 1. */
typedef struct bgtask_plugin {
    uint32_t abi_version; /**< BGTASK_ABI_VERSION of the plugin. Since 1. */
    size_t struct_size;   /**< sizeof(bgtask_plugin) in the plugin. Since 1. */
    /** The handler. Called once, on the main thread. Call `complete` before returning: a launch whose `run`
     *  returns without it is `failed`, `exitedWithoutCompleting`. The exception: once the launch is expiring,
     *  to return without completing means "not finished": it is `expired`, and the host puts the same request
     *  back, with the last checkpoint, for another attempt. Completing with 0 then means "expired, do not try
     *  again".
     *  [handler] Since 1. */
    void (*run)(bgtask_task *task, const bgtask_host *host);
} bgtask_plugin;

/** The one symbol a plugin must export. Called once in the task's process, never in a template or the host; returns a
 *  pointer to static storage, or NULL to fail the load. [handler] Since 1. */
BGTASK_EXPORT const bgtask_plugin *bgtask_plugin_entry(void);

/** Exported by plugins that are apps: they have launch code of their own, which registers handlers and submits the
 *  first requests. Never called; that it is there makes the host start an app launch when the plugin is
 * installed
 *  or changed, and on `bgtask open`. Since 1. */
BGTASK_EXPORT void bgtask_app_entry(void);

#ifdef __cplusplus
}
#endif

#endif /* BGTASK_H */
