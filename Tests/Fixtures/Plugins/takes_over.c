/* Its constructor takes over the template. For each launch, it makes a child of the launcher that is not in
 * the group of the launch, where no limit and no kill would reach it. It holds the FIFO "alive" open. With
 * TAKES=beside, a second process is the task, in its group, and the first one is in the same group; with
 * TAKES=burns, the task uses CPU time. */
#include "fixture.h"

#include "../../../Sources/Runner/bgtask-runner/template.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Receives a request, and keeps the directory of its group open. */
static int receive(struct clone_request *request, int *group) {
    char space[CMSG_SPACE(sizeof(int) * CLONE_DESCRIPTORS_MAX)];
    struct iovec bytes = {request, sizeof(*request)};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
    if (recvmsg(3, &message, 0) <= 0)
        return 0;
    int place = request->is_standby ? STANDBY_GROUP : CLONE_OTHERS;
    memcpy(group, CMSG_DATA(CMSG_FIRSTHDR(&message)) + sizeof(int) * (size_t)place, sizeof(int));
    return 1;
}

/* Makes a child of the launcher, in a group unless that is -1. */
static pid_t make(int group, int burns) {
    struct clone_args arguments = {.flags = CLONE_PARENT | (group >= 0 ? CLONE_INTO_CGROUP : 0),
                                   .cgroup = group >= 0 ? (uint64_t)group : 0};
    pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
    while (child == 0)
        if (!burns)
            pause();
    return child;
}

__attribute__((constructor)) static void at_load(void) {
    const char *takes = getenv("TAKES");
    int is_beside = takes != NULL && strcmp(takes, "beside") == 0;
    int burns = takes != NULL && strcmp(takes, "burns") == 0;
    struct template_answer loaded = {.what = TEMPLATE_LOADED, .cloneable = true};
    send(3, &loaded, sizeof(loaded), MSG_NOSIGNAL);
    struct clone_request request;
    int group;
    while (receive(&request, &group)) {
        int alive = open("alive", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        pid_t child = make(is_beside || burns ? group : -1, burns);
        close(alive);
        if (is_beside)
            child = make(group, 0);
        struct template_answer cloned = {.what = TEMPLATE_CLONED,
                                         .is_standby = request.is_standby,
                                         .launch = request.launch,
                                         .pid = child};
        send(3, &cloned, sizeof(cloned), MSG_NOSIGNAL);
    }
    _exit(0);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    host->complete(task, 1, NULL);
}
