/* The sandbox of a template and its tasks: what they may use besides their own directories. The layers must
 * be applied in the order of `sandbox_layer`. */
#ifndef BGTASK_RUNNER_SANDBOX_H
#define BGTASK_RUNNER_SANDBOX_H

#include "frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The layers, with the names in Documentation/RunnerProtocol.md; see SandboxLayer in TaskModel. */
enum sandbox_layer {
    LAYER_NAMESPACES = 1,
    LAYER_NETWORK_NAMESPACE = 2,
    LAYER_CAPABILITIES = 4,
    LAYER_LANDLOCK = 8,
    LAYER_LANDLOCK_PORTS = 16,
    LAYER_LANDLOCK_SCOPES = 32,
    LAYER_SECCOMP = 64,
    LAYER_USER = 128,
};

/** A list of paths; each belongs to the list. */
struct paths {
    char **items;
    size_t count;
};

/** What the *template* message grants. */
struct sandbox {
    unsigned layers; /**< The layers to apply, as bits of sandbox_layer. */
    struct paths read, write, devices;
    enum { NETWORK_NONE, NETWORK_CONNECT, NETWORK_ALL } network;
    uint16_t *ports; /**< For NETWORK_CONNECT. */
    size_t port_count;
    bool subprocesses;
    /** Whether memory that no limit of a launch would count is refused: the host measures the memory of
     * processes, and not the kernel that of a cgroup. */
    bool without_shared_memory;
    uint32_t user; /**< For LAYER_USER: the number of the bundle's user, and of its group; never 0. */
    /** Which calls are reported to the launcher: none, those that the filter refuses, or also those that use
     * a file, a program or a connection. */
    enum { OBSERVE_NONE, OBSERVE_REFUSED, OBSERVE_ALL } observe;
    int listener;  /**< After sandbox_restrict: the descriptor for the launcher; -1 if there is none. */
    char *library; /**< The library to load; NULL for a call program. */
};

/** How a launcher answers a call that the filter reported. */
struct sandbox_answer {
    int code; /**< The error number that the caller gets; 0 if the kernel continues with the call. */
    const char *name;
};

/** A call that sends a signal, and the positions of its arguments. */
struct signal_call {
    int number;
    int process; /**< -1 if no argument is the number of a process. */
    int signal;
};

enum { SIGNAL_CALLS = 6, REPORTED_SIGNALS = 3, LOW_SIGNAL = 3 };
extern const struct signal_call sandbox_signal_calls[SIGNAL_CALLS];
/** The signals that are reported, beside those up to LOW_SIGNAL: a look whether the process exists, SIGHUP,
 *  SIGINT and SIGQUIT. Language runtimes send each other the rest by the thousand. */
extern const unsigned sandbox_reported_signals[REPORTED_SIGNALS];
/** NULL if the call sends no signal. */
const struct signal_call *sandbox_signal_call(int number);

/** Whether the processes run as the bundle's own user, who may write only to the cgroups that the host made
 * for this bundle. */
static inline bool sandbox_has_user(const struct sandbox *sandbox) {
    return (sandbox->layers & LAYER_USER) != 0;
}

/** Returns the layer with this name; 0 if there is none. */
unsigned sandbox_layer_named(const char *name);
/** Reads the fields of a *template* message. False if there is no memory or a field is malformed. */
bool sandbox_parse(struct sandbox *sandbox, struct body body);
/** Frees the lists. */
void sandbox_free(struct sandbox *sandbox);

/* The functions below apply layers to the calling process, which must have one thread. If one fails, it
 * returns false with a sentence in `finding` that names what could not be applied; the process must then
 * end. Each does nothing if its layers are not wanted. */

/** Enters the namespaces. All file systems become read-only there, except for the paths of `write`. */
bool sandbox_enter_namespaces(const struct sandbox *sandbox, char *finding, size_t size);
/** Whether the processes are in an IPC namespace whose limits hold: System V IPC can then neither outlive the
 * launch that made it, nor use much memory. */
bool sandbox_ipc_is_limited(const struct sandbox *sandbox);
/** Gives up all capabilities, for this process and for the programs that it executes, and becomes the user of
 * the bundle. The kernel then forgets the signal for the death of the parent (PR_SET_PDEATHSIG). */
bool sandbox_drop_privileges(const struct sandbox *sandbox, char *finding, size_t size);
/** Restricts files, ports and signals. Programs can be executed afterwards only with `subprocesses`. */
bool sandbox_restrict_files(const struct sandbox *sandbox, char *finding, size_t size);
/** Restricts the system calls. If the calls are observed and the kernel can report them, `listener` becomes a
 *  descriptor on which the launcher must answer; until then, reported calls wait. The call clone is still
 *  permitted, because a template makes tasks with it; isolation_enter_task then forbids it to tasks without
 *  `subprocesses`. */
bool sandbox_restrict_calls(struct sandbox *sandbox, char *finding, size_t size);

/** The answer to a call that the filter of this sandbox reported. Every call that is not merely watched is
 *  refused. The arguments are numbers, which the caller can't change any more; what they point to, it can. */
struct sandbox_answer sandbox_answer(const struct sandbox *sandbox, int call, const uint64_t *arguments);

/** Calls sandbox_restrict_files and sandbox_restrict_calls, without new privileges from now on. Called in a
 *  template or task before it loads a library. */
bool sandbox_restrict(struct sandbox *sandbox, char *finding, size_t size);

/** Remembers the sandbox of this process for the functions below; its lists must stay. */
void sandbox_remember(const struct sandbox *sandbox);
/** Lets this process, and those that it starts, signal only each other, and not its template or the
 * template's other tasks. It must have one thread, because threads in scopes of their own could not signal
 * each other's children. If it fails, returns false and sets errno. */
bool sandbox_enter_scope(void);
/** Kills all other processes in the scope of sandbox_enter_scope: what this launch has started, wherever it
 *  is. Does nothing without a scope. */
void sandbox_kill_scope(void);
/** Prepares the restriction of a launch: of the temporary directories of its bundle, it may change only its
 * own. `*ruleset` is for sandbox_enter_launch; -1 if no restriction is needed. If it fails, returns false
 * with a sentence in `finding`. */
bool sandbox_prepare_launch(const char *temporary, int *ruleset, char *finding, size_t size);
/** Restricts the calling thread, and the threads that it starts later. On failure, returns false. */
bool sandbox_enter_launch(int ruleset);

/** Writes `finding` from the name of a step and errno; returns false. */
bool sandbox_refused(const char *step, char *finding, size_t size);

#endif
