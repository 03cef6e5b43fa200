/* Counts the CPU time of launches that have no group, also of processes that /proc loses: those whose parents
 * have ended, or do not wait for them. */
#include "launcher.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A group counts by itself, and a task without permission for processes is one process. */
static bool wants_counter(const struct launch *launch) {
    return launch->group < 0 && launch->subprocesses;
}

void counter_open(struct launch *launch, pid_t pid, int socket) {
    if (!wants_counter(launch))
        return;
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attributes),
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .inherit = 1,
        .exclude_kernel = 1, // the counter counts that time, too, but without this bit it needs a privilege
        .exclude_hv = 1,
    };
    launch->counter = (int)syscall(SYS_perf_event_open, &attributes, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    send(socket, "", 1, MSG_NOSIGNAL);
}

void counter_wait(const struct launch *launch, const int *sockets) {
    if (!wants_counter(launch))
        return;
    char word;
    ssize_t count;
    close(sockets[0]); // else the end of the launcher would not end the wait
    do
        count = recv(sockets[1], &word, 1, 0);
    while (count < 0 && errno == EINTR);
    if (count != 1)
        _exit(71);
}
