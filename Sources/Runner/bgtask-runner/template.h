/* The template process, and the packets between it and the launcher. Both are the same program, so the
 * packets are plain structs. */
#ifndef BGTASK_RUNNER_TEMPLATE_H
#define BGTASK_RUNNER_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The descriptors of a clone request, in this order. A group and a status pipe may follow at
 *  CLONE_OTHERS. */
enum { CLONE_CONTROL, CLONE_REPORT, CLONE_STDOUT, CLONE_STDERR, CLONE_OTHERS, CLONE_DESCRIPTORS_MAX = 6 };

/** The descriptors of a request for a standby: the standby's socket, and the directory of its cgroup. */
enum { STANDBY_ASKS, STANDBY_GROUP, STANDBY_DESCRIPTORS };

/** Sent by the launcher to a template: clone a task. */
struct clone_request {
    uint64_t launch;
    bool is_standby; /**< Whether to make a standby, which waits for a standby_request. */
    bool subprocesses;
    bool has_group;     /**< The directory of a cgroup follows the four pipes. */
    bool has_namespace; /**< The status pipe of a PID namespace comes last. */
};

/** Sent by the launcher to a standby, with the four pipes of a task: run a launch. */
struct standby_request {
    int64_t since; /**< When the launch was requested, in nanoseconds on CLOCK_MONOTONIC. */
};

/** Sent by a template to the launcher: first, if its calls are observed, the listener of its filter or no
 *  descriptor; then the result of loading and of each clone request. A fresh task sends only the first. */
struct template_answer {
    enum {
        TEMPLATE_LOADED,
        TEMPLATE_LOAD_FAILED,
        TEMPLATE_CLONED,
        TEMPLATE_CLONE_FAILED,
        TEMPLATE_LISTENER
    } what;
    bool cloneable;
    bool is_standby; /**< Whether the answer is about a standby. */
    uint64_t launch;
    int32_t pid; /**< The pid of the clone; its pidfd comes with the packet. */
    int code;    /**< The error number of the call that failed; 0 if no call failed, or none is known. */
    char finding[512];
};

/** Sends one packet with descriptors. On failure, returns false and sets errno. */
bool packet_send(int socket, const void *packet, size_t size, const int *descriptors, int count, int flags);
/** The result of packet_receive if not all descriptors of a packet could be received; it then has none. */
enum { PACKET_STRIPPED = 2 };

/** Receives one packet of exactly `size` bytes. Returns 1, PACKET_STRIPPED, 0 at the end of the stream, or -1
 *  with errno (such as EAGAIN or EPROTO). `*count` is the number of descriptors, which are close-on-exec. */
int packet_receive(int socket, void *packet, size_t size, int *descriptors, int *count, int flags);

/** The descriptor of the *template* message; see isolation_complete_template. */
enum { TEMPLATE_MESSAGE = 4 };

/** Sends the listener of a filter to the launcher and closes it; -1 says that the kernel can't report
 * calls. */
bool packet_send_listener(int socket, int listener);

/** Runs `bgtask-runner template pidNamespace|shared [LIBRARY]`; descriptor 3 is its socket. Ends the process
 *  itself, unless it fails at the start. The word says whether each task gets a PID namespace. */
int template_main(int count, char **arguments);

#endif
