/* The template process, and its packets: it and the launcher are the same program, so these are plain structs. */
#ifndef BGTASK_RUNNER_TEMPLATE_H
#define BGTASK_RUNNER_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Descriptors of a clone request, in this order; the last two stand only where they apply. */
enum { CLONE_CONTROL, CLONE_REPORT, CLONE_STDOUT, CLONE_STDERR, CLONE_OTHERS, CLONE_DESCRIPTORS_MAX = 6 };

/** Descriptors of a request for a standby: its own socket, and the cgroup's directory. */
enum { STANDBY_ASKS, STANDBY_GROUP, STANDBY_DESCRIPTORS };

/** Launcher to template: make a task. */
struct clone_request {
    uint64_t launch;
    bool is_standby; /**< Its launch is not known yet; it waits for a standby_request. */
    bool subprocesses;
    bool has_group;     /**< A cgroup's directory follows the four pipes. */
    bool has_namespace; /**< Then the status pipe of a PID namespace. */
};

/** Launcher to standby, with the four pipes of a task: be this launch. */
struct standby_request {
    int64_t since; /**< When the launch was asked for, CLOCK_MONOTONIC nanoseconds. */
};

/** Template to launcher. */
struct template_answer {
    enum { TEMPLATE_LOADED, TEMPLATE_LOAD_FAILED, TEMPLATE_CLONED, TEMPLATE_CLONE_FAILED } what;
    bool cloneable;
    bool is_standby; /**< What was cloned is one. */
    uint64_t launch;
    int32_t pid; /**< Its pidfd comes with the packet. */
    char finding[512];
};

/** Sends one packet with descriptors; false with errno. */
bool packet_send(int socket, const void *packet, size_t size, const int *descriptors, int count, int flags);
/** Receives one packet of exactly `size` bytes: 1, 0 at the end, -1 with errno (EAGAIN, EPROTO).
 *  Descriptors are close-on-exec; `*count` says how many came. */
int packet_receive(int socket, void *packet, size_t size, int *descriptors, int *count, int flags);

/** The template: descriptor 3 is its socket. Never returns but to end the process. */
int template_main(const char *library);

#endif
