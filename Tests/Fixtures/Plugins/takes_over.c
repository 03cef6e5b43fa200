/* Its constructor takes over the template. For each launch, it makes a child of the launcher that is not in
 * the group of the launch, where no limit and no kill would reach it. The task holds the FIFO "alive"
 * open. */
#include "fixture.h"

#include "../../../Sources/Runner/bgtask-runner/template.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((constructor)) static void at_load(void) {
    struct template_answer loaded = {.what = TEMPLATE_LOADED, .cloneable = true};
    send(3, &loaded, sizeof(loaded), MSG_NOSIGNAL);
    struct clone_request request;
    while (recv(3, &request, sizeof(request), 0) > 0) {
        int alive = open("alive", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        struct clone_args arguments = {.flags = CLONE_PARENT};
        pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
        while (child == 0)
            pause();
        close(alive);
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
