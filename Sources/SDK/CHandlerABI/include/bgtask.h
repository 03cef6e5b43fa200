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
 * Signals. The runner sends SIGPROF to the threads of a launch that uses much CPU time, and shortly before
 * the host kills it, so that reports can show their stacks. As after any signal, calls such as `poll`,
 * `sleep` and `nanosleep` then return early, with EINTR. An early return does not mean that there is nothing
 * left to do.
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

/** The version of the ABI that this header describes. The launch of a plugin with another version ends as
 *  `failed` with the reason `loadFailed`. Since 1. */
#define BGTASK_ABI_VERSION 1u

/** The largest number of bytes in a checkpoint or a payload: 48 KiB. Since 1. */
#define BGTASK_BLOB_MAX 49152u

/** The result of a push, as the message for `complete`: there were new data, or there were none. If the
 *  push could not be handled, complete it with success 0 instead. Since 1. */
#define BGTASK_NEW_DATA "newData"
#define BGTASK_NO_DATA "noData"

/** Exports the entry function, even with -fvisibility=hidden. Since 1. */
#define BGTASK_EXPORT __attribute__((visibility("default")))

/** True if the struct of the runner or plugin is new enough to have the member. Since 1. */
#define BGTASK_HAS(pointer, type, member)                                                                    \
    ((pointer)->struct_size >= offsetof(type, member) + sizeof((pointer)->member))

/** The kind of a background task. Values are never reused. Since 1. */
typedef enum bgtask_kind {
    BGTASK_KIND_APP_REFRESH = 1,
    BGTASK_KIND_PROCESSING = 2,
    BGTASK_KIND_CONTINUED_PROCESSING = 3,
    BGTASK_KIND_PUSH = 4,
    BGTASK_KIND_TRANSFER_EVENTS = 5,
    BGTASK_KIND_ACTIVITY = 6,
    /** Runs the launch code of an app, so that the app can submit its first requests. Only plugins that
     *  export `bgtask_app_entry` get such launches. Since 1. */
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

/** The result of a call of a function in `bgtask_host`: 0, or why the call was refused. Since 1. */
typedef enum bgtask_error {
    BGTASK_OK = 0,
    BGTASK_UNAVAILABLE = 1,          /**< The host is gone or stopping, or background refresh is off. */
    BGTASK_TOO_MANY_PENDING = 2,     /**< The bundle has reached its limit of pending requests. */
    BGTASK_NOT_PERMITTED = 3,        /**< The manifest does not permit the request. */
    BGTASK_IMMEDIATE_INELIGIBLE = 4, /**< The request can't start now; its strategy is `fail`. */
    BGTASK_TOO_LARGE = 64,           /**< The checkpoint or payload exceeds BGTASK_BLOB_MAX. */
    BGTASK_INVALID_ARGUMENT = 65,    /**< An argument is NULL, not UTF-8, or out of range. */
    BGTASK_EXPIRING = 66             /**< No assertion can begin, because the launch expires. */
} bgtask_error;

/** The facts about one launch. The runner fills them in; they are constant for the life of the process.
 *  Since 1. */
typedef struct bgtask_launch {
    size_t struct_size;     /**< sizeof(bgtask_launch) in the runner. Since 1. */
    const char *identifier; /**< The task's full identifier, never a wildcard. Since 1. */
    const char *bundle;     /**< The bundle's identifier. Since 1. */
    bgtask_kind kind;       /**< The kind of the task. Since 1. */
    uint64_t launch_id;     /**< The launch's number in logs and commands (42 for "L42"). Since 1. */
    uint64_t request_id;    /**< The request's number; the same in every attempt. Since 1. */
    uint32_t attempt;       /**< The number of the attempt, from 1. Since 1. */
    /** The fencing token, which grows with every launch on this host. Store it together with the effects
     *  of the launch, so that you can refuse a late write of an earlier launch. Since 1. */
    uint64_t fencing_token;
    const void *payload;      /**< The request's payload as JSON text; NULL if none. Since 1. */
    size_t payload_length;    /**< The payload's length in bytes. Since 1. */
    const void *checkpoint;   /**< The bytes that an earlier attempt saved; NULL if none. Since 1. */
    size_t checkpoint_length; /**< The checkpoint's length in bytes. Since 1. */
    /** When this identifier last succeeded, in milliseconds since 1970 UTC; -1 if it never did. Since 1. */
    int64_t last_success_milliseconds;
    /** When the lease ends, in nanoseconds on CLOCK_BOOTTIME; INT64_MAX if run time is not limited. The
     *  host may extend the lease on external power, and may end the launch earlier when conditions change.
     *  So use this value only for planning, and handle expiration. Since 1. */
    int64_t lease_end_nanoseconds;
    const char *data_directory;      /**< The bundle's own directory, kept between launches. Since 1. */
    const char *temporary_directory; /**< Removed after the launch; also in TMPDIR. Since 1. */
    const char *title;               /**< Continued tasks: what the user sees; else "". Since 1. */
    const char *subtitle;            /**< The second line, below the title. Since 1. */
    /** The identifiers that the bundle's manifest permits, as they are written there (those of continued
     *  tasks may end in ".*"). NULL ends the list. Since 1. */
    const char *const *permitted_identifiers;
    /** The kind (a `bgtask_kind`) of each permitted identifier, in the same order. Since 1. */
    const uint8_t *permitted_kinds;
    /** The background modes in the manifest ("fetch", "processing" and others). NULL ends the list.
     *  Since 1. */
    const char *const *modes;
    /** How long assertions may keep the process alive after completion, in milliseconds. Since 1. */
    int64_t assertion_allowance_milliseconds;
} bgtask_launch;

/** How hot the machine is. Since 1. */
typedef enum bgtask_thermal {
    BGTASK_THERMAL_NOMINAL = 0,
    BGTASK_THERMAL_FAIR = 1,
    BGTASK_THERMAL_SERIOUS = 2,
    BGTASK_THERMAL_CRITICAL = 3
} bgtask_thermal;

/** The source of the machine's power. Since 1. */
typedef enum bgtask_power {
    BGTASK_POWER_UNKNOWN = 0,
    BGTASK_POWER_BATTERY = 1,  /**< External power is not connected. */
    BGTASK_POWER_CHARGING = 2, /**< External power is connected; the battery is charging. */
    BGTASK_POWER_EXTERNAL = 3  /**< Power without charging, or without a battery. */
} bgtask_power;

/** Whether the bundle may refresh in the background. Since 1. */
typedef enum bgtask_refresh {
    BGTASK_REFRESH_RESTRICTED = 0, /**< The administrator switched it off. */
    BGTASK_REFRESH_DENIED = 1,     /**< The user switched it off. */
    BGTASK_REFRESH_AVAILABLE = 2
} bgtask_refresh;

/** The machine's network, and what it costs. Since 1. */
typedef enum bgtask_network {
    BGTASK_NETWORK_UNKNOWN = 0,
    BGTASK_NETWORK_NONE = 1,        /**< There is no default route. */
    BGTASK_NETWORK_CONSTRAINED = 2, /**< The user switched on low-data mode. */
    BGTASK_NETWORK_METERED = 3,     /**< The user pays for the data. */
    BGTASK_NETWORK_UNMETERED = 4
} bgtask_network;

/** What the ways to the network are made of; the bits of a set. Since 1. */
typedef enum bgtask_interfaces {
    BGTASK_INTERFACE_WIFI = 1,
    BGTASK_INTERFACE_CELLULAR = 2,
    BGTASK_INTERFACE_WIRED = 4, /**< A cable. */
    BGTASK_INTERFACE_OTHER = 8  /**< A VPN, a bridge of a container and others. */
} bgtask_interfaces;

/** The conditions of the machine that handlers can read. Since 1. */
typedef struct bgtask_conditions {
    size_t struct_size;     /**< sizeof(bgtask_conditions); the plugin sets it
                             *   for the call `conditions`. Since 1. */
    int32_t low_power_mode; /**< 0 or 1. Since 1. */
    bgtask_thermal thermal; /**< How hot the machine is. Since 1. */
    bgtask_power power;     /**< The power supply. Since 1. */
    int32_t battery;        /**< Percent, 0 through 100; -1 if unknown or none. Since 1. */
    bgtask_refresh refresh; /**< Whether the bundle may refresh. Since 1. */
    int32_t should_defer;   /**< Activities: 1 if the host suggests to stop early and continue at another
                             *   time. The launch expires if it does not stop. Since 1. */
    int32_t gpu; /**< 1 if continued tasks can request a GPU, else 0. Early runners lack this member: test
                  *   a struct from the runner with BGTASK_HAS. Since 1. */
    /** 0. It makes the size grow with the next member, so that BGTASK_HAS can see it. Since 1. */
    int32_t reserved;
    /** The network; of the whole machine, also if the task may not use it. Early runners lack this member:
     *  test it with BGTASK_HAS. Since 1. */
    bgtask_network network;
    /** The set of BGTASK_INTERFACE_ bits of the devices of the default routes; 0 if unknown, without a
     * network, and from early runners. A plugin that knows no name of a bit ignores it. Since 1. */
    uint32_t interfaces;
} bgtask_conditions;

/** The host's request that the launch end; it is made once. Since 1. */
typedef struct bgtask_expiration {
    size_t struct_size; /**< sizeof(bgtask_expiration) in the runner. Since 1. */
    /** The reason, one of the words in Documentation/Outcomes.md: "leaseEnded", "cpuLimit",
     *  "externalPowerLost", "networkMetered" and others. Newer hosts add words, so handle an unknown word
     *  like any other request to stop. Since 1. */
    const char *reason;
    /** When the host kills all processes of the launch, in nanoseconds on CLOCK_MONOTONIC. Since 1. */
    int64_t deadline_nanoseconds;
    /** The whole grace period that the host granted, in milliseconds. Since 1. */
    uint32_t grace_milliseconds;
} bgtask_expiration;

/** A request that a handler submits. Fill it with zeros, then set struct_size and the members that you
 *  need. Since 1. */
typedef struct bgtask_request {
    size_t struct_size;     /**< sizeof(bgtask_request) in the plugin. Since 1. */
    const char *identifier; /**< The task's identifier; required. Since 1. */
    /** The earliest time at which the task may start, in milliseconds since 1970 UTC; 0 means immediately.
     *  Since 1. */
    int64_t earliest_begin_milliseconds;
    int32_t requires_external_power;       /**< 1 if required; the manifest may require it too. Since 1. */
    int32_t requires_network_connectivity; /**< 1 if required; the manifest may require it too. Since 1. */
    const void *payload;                   /**< A JSON object as text, or NULL. Since 1. */
    size_t payload_length;                 /**< Bytes, at most BGTASK_BLOB_MAX. Since 1. */
    const char *title;                     /**< Continued tasks: the title for the user, or NULL. Since 1. */
    const char *subtitle;                  /**< Continued tasks: the second line, or NULL. Since 1. */
    int32_t fails_unless_immediate;        /**< Continued tasks: 1 for Apple's `fail` strategy. Since 1. */
    int32_t requires_gpu;                  /**< Continued tasks: 1 if a GPU is required. Since 1. */
    /** Activities: the end of the window in milliseconds since 1970 UTC; 0 means that there is none.
     *  Since 1. */
    int64_t deadline_milliseconds;
    /** The kind that you expect. The result is BGTASK_NOT_PERMITTED if the manifest gives the identifier
     *  another kind. 0 accepts the kind in the manifest. Since 1. */
    bgtask_kind kind;
} bgtask_request;

/** A pending request that the function `pending` lists; valid only during the callback. Since 1. */
typedef struct bgtask_pending_request {
    size_t struct_size;                    /**< sizeof(bgtask_pending_request) in the runner. Since 1. */
    uint64_t request_id;                   /**< The request's number. Since 1. */
    const char *identifier;                /**< The task's identifier. Since 1. */
    bgtask_kind kind;                      /**< The kind of the task. Since 1. */
    int64_t earliest_begin_milliseconds;   /**< Milliseconds since 1970 UTC; 0 if none. Since 1. */
    int32_t requires_external_power;       /**< As submitted. Since 1. */
    int32_t requires_network_connectivity; /**< As submitted. Since 1. */
    const char *title;                     /**< The title of a continued task; else "". Since 1. */
    const char *subtitle;                  /**< The second line, below the title. Since 1. */
} bgtask_pending_request;

/** The running task, an opaque type. Each process has one. Since 1. */
typedef struct bgtask_task bgtask_task;

/** Called when the launch expires. `context` is the pointer that was passed with the handler. [control]
 *  Since 1. */
typedef void (*bgtask_expiration_handler)(bgtask_task *task, const bgtask_expiration *expiration,
                                          void *context);

/** Called when a condition has changed. `context` is the pointer that was passed with the handler.
 *  [control] Since 1. */
typedef void (*bgtask_conditions_handler)(bgtask_task *task, const bgtask_conditions *conditions,
                                          void *context);

/** Called for each pending request, on the thread that called `pending` and before that call returns.
 *  Since 1. */
typedef void (*bgtask_pending_visitor)(const bgtask_pending_request *request, void *context);

/** The functions of the runner. Constant for the life of the process. Since 1. */
typedef struct bgtask_host {
    uint32_t abi_version; /**< BGTASK_ABI_VERSION of the runner. Since 1. */
    size_t struct_size;   /**< sizeof(bgtask_host) in the runner. Since 1. */

    /** Returns the facts about the launch, never NULL. [any] Since 1. */
    const bgtask_launch *(*launch)(const bgtask_task *task);

    /** Reports progress. `total` 0 means indeterminate progress, and `completed` then counts steps.
     *  `message` may be NULL, which keeps the previous one. Calls are cheap: the runner sends only the
     *  newest report, at most 20 times per second, and always sends the last one. Negative numbers give
     *  BGTASK_INVALID_ARGUMENT. [any] Since 1. */
    bgtask_error (*progress)(bgtask_task *task, int64_t completed, int64_t total, const char *message);

    /** Writes a line to the host's log, as a message of this launch. Control characters are escaped, and a
     *  line is cut at 4 KiB. The host also captures stdout and stderr, but their lines have no level.
     *  [any] Since 1. */
    void (*log)(bgtask_task *task, bgtask_log_level level, const char *message);

    /** Saves a checkpoint for the next attempt of this request; it replaces the previous one. The
     *  checkpoint is durable once the host has stored it, which it does before it handles a later
     *  completion. A checkpoint that is sent after the host died is lost. More than BGTASK_BLOB_MAX bytes
     *  give BGTASK_TOO_LARGE. NULL with length 0 deletes the checkpoint. [any] Since 1. */
    bgtask_error (*checkpoint)(bgtask_task *task, const void *bytes, size_t length);

    /** Submits a task request, and waits for the host. If the host refuses it and `why` is not NULL, `why`
     *  gets a sentence with the subject, the reason and what to do, cut to `why_size` bytes. [any] but not
     *  [control]. Since 1. */
    bgtask_error (*submit)(bgtask_task *task, const bgtask_request *request, char *why, size_t why_size);

    /** Cancels the pending request of an identifier or, with NULL, all pending requests of this bundle,
     *  and waits for the host. Running launches continue. The result is BGTASK_OK even if nothing was
     *  pending. [any] but not [control]. Since 1. */
    bgtask_error (*cancel)(bgtask_task *task, const char *identifier);

    /** Calls `visitor` for each pending request of this bundle. [any] but not [control]. Since 1. */
    bgtask_error (*pending)(bgtask_task *task, bgtask_pending_visitor visitor, void *context);

    /** Begins an assertion, which keeps the process alive after completion until the assertion ends, for
     *  about 30 s at most. Stores its number, never 0, in `assertion`. Once the launch is expiring, the
     *  result is BGTASK_EXPIRING and the number 0. `name` appears in reports. [any] Since 1. */
    bgtask_error (*begin_assertion)(bgtask_task *task, const char *name, uint64_t *assertion);

    /** Ends an assertion. To end it twice, or to end 0, has no effect. [any] Since 1. */
    void (*end_assertion)(bgtask_task *task, uint64_t assertion);

    /** Completes the task. Only the first call has an effect. `message` may be NULL. When the call
     *  returns, the completion has been sent to the host. The process should end soon afterwards; the
     *  runner ends it when `run` has returned and no assertion is open. The host kills a process that
     *  still exists 5 s after completion (35 s with an open assertion), but this does not change the
     *  outcome. For a push, pass BGTASK_NEW_DATA or BGTASK_NO_DATA as the message, which appears in the
     *  launch's record. [any] Since 1. */
    void (*complete)(bgtask_task *task, int32_t success, const char *message);

    /** Sets, replaces or (with NULL) removes the expiration handler. It is called at most once, on the
     *  control thread, and may call `complete`. If the launch is already expiring and the task is not
     *  complete, it is called immediately. If `run` returns while the handler runs, the process continues
     *  until the handler has returned. If there is neither a handler nor an expiration descriptor, the
     *  runner ends an expiring task immediately. The host then does not put its request back, unless the
     *  task had just begun or polls with `expired`, or the reason was the machine's sleep, a
     *  stop of the host, or a pause. [any] Since 1. */
    void (*set_expiration_handler)(bgtask_task *task, bgtask_expiration_handler handler, void *context);

    /** Returns a descriptor that becomes readable when the launch expires, and stays readable; use it with
     *  poll or epoll. Do not read from it or close it. A launch that requests the descriptor
     *  counts as listening for expiration. Returns -1 if the descriptor could not be created. [any]
     *  Since 1. */
    int (*expiration_descriptor)(bgtask_task *task);

    /** Polls for expiration. If the launch is expiring, copies the expiration to `expiration`, which may
     *  be NULL, and returns 1; otherwise returns 0. Set the struct_size of `expiration` first. [any]
     *  Since 1. */
    int (*expired)(bgtask_task *task, bgtask_expiration *expiration);

    /** Returns the table of an extension by its identifier ("example.extension/1"), or NULL if this runner
     *  does not have the extension. There is one, BGTASK_SESSIONS. [any] Since 1. */
    const void *(*extension)(bgtask_task *task, const char *identifier);

    /** Like `log`, with a subsystem and a category, by which readers can filter; each is cut at 256 bytes
     *  and may be NULL. [any] Since 1. */
    void (*log_as)(bgtask_task *task, bgtask_log_level level, const char *subsystem, const char *category,
                   const char *message);

    /** Gives the plugin's author advice that is not about a particular launch. The host shows it in its
     *  log and in `bgtask plugins`, once for each version of the library, code and message. `code` is one
     *  word, cut at 128 bytes. `message` is a sentence that says what was found and what to do, cut at 1
     *  KiB. A launch may give 100 pieces of advice. [any] Since 1. */
    void (*advise)(bgtask_task *task, const char *code, const char *message);

    /** Reports why the process is about to end itself; then abort. `code` is Apple's name of the fault
     *  ("0x8badf00d", "NSInternalInconsistencyException"), cut at 128 bytes. The first line of `message`
     *  becomes the message of the launch's end, and further lines become its report. `message` is cut at 4
     *  KiB. Only the first call has an effect. [any] Since 1. */
    void (*fault)(bgtask_task *task, const char *code, const char *message);

    /** Copies the conditions that the host sent last to `conditions`; set the struct_size of `conditions`
     *  first. The host sends them before `run` is called and after every change. [any] Since 1. */
    void (*conditions)(bgtask_task *task, bgtask_conditions *conditions);

    /** Sets, replaces or (with NULL) removes the function that is called when a condition changes. It does
     *  not receive earlier changes, so call `conditions` after this. No expiration is delivered while it
     *  runs. [any] Since 1. */
    void (*set_conditions_handler)(bgtask_task *task, bgtask_conditions_handler handler, void *context);

    /** Replaces the title and the second line of a continued task. Each is cut at 1 KiB; NULL means "".
     *  [any] Since 1. */
    void (*set_title)(bgtask_task *task, const char *title, const char *subtitle);

    /** Returns the address of a symbol that the plugin's library, or a library that it needs, exports;
     *  NULL if there is none. This is for language bindings that are linked into plugins. [any] Since 1. */
    void *(*symbol)(bgtask_task *task, const char *name);
} bgtask_host;

/** Called with the host's answer, on the thread that asked and before its call returns. The bytes are valid
 *  only during this call. Since 1. */
typedef void (*bgtask_session_visitor)(const void *bytes, size_t length, void *context);

/** The identifier of the extension for background sessions: downloads and uploads that the host makes for
 *  the bundle, also when none of its tasks runs. Since 1. */
#define BGTASK_SESSIONS "bgtask.sessions/1"

/** The table of the extension BGTASK_SESSIONS. Since 1. */
typedef struct bgtask_sessions {
    size_t struct_size; /**< sizeof(bgtask_sessions) in the runner. Since 1. */
    /** Asks the host something about the bundle's sessions, and waits for the answer. Question and answer are
     *  JSON objects (Documentation/Transfers.md lists them) of at most BGTASK_BLOB_MAX bytes. `visitor` gets
     *  the answer. If the host refuses, and `why` is not NULL, `why` gets a sentence, cut to `why_size`
     *  bytes.
     *  The end of the process does not wait for the answer. [any] but not [control]. Since 1. */
    bgtask_error (*call)(bgtask_task *task, const void *question, size_t length,
                         bgtask_session_visitor visitor, void *context, char *why, size_t why_size);
} bgtask_sessions;

/** The value that a plugin's entry function returns. Since 1. */
typedef struct bgtask_plugin {
    uint32_t abi_version; /**< BGTASK_ABI_VERSION of the plugin. Since 1. */
    size_t struct_size;   /**< sizeof(bgtask_plugin) in the plugin. Since 1. */
    /** The handler, called once, on the main thread. Call `complete` before it returns: otherwise, the
     *  launch ends as `failed` with the reason `exitedWithoutCompleting`. There is one exception: if the
     *  launch is expiring, returning without completing means "not finished". The launch then ends as
     *  `expired`, and the host puts the same request back, with the last checkpoint, for another attempt
     *  (Documentation/Outcomes.md lists the exceptions, such as a cancellation by the user). Completing
     *  with 0 in this case means "expired, do not try again". [handler] Since 1. */
    void (*run)(bgtask_task *task, const bgtask_host *host);
} bgtask_plugin;

/** The only symbol that a plugin must export. It is called once in the task's process, never in a template
 *  or in the host. It returns a pointer to static storage, or NULL if the plugin cannot be used. [handler]
 *  Since 1. */
BGTASK_EXPORT const bgtask_plugin *bgtask_plugin_entry(void);

/** Exported by plugins that are apps, which have launch code that registers handlers and submits the first
 *  requests. It is never called. Because the symbol exists, the host starts an app launch when the plugin
 *  is installed or changed, and on `bgtask open`. Since 1. */
BGTASK_EXPORT void bgtask_app_entry(void);

#ifdef __cplusplus
}
#endif

#endif /* BGTASK_H */
