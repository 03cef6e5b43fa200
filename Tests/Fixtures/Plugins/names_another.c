/* Its constructor takes over the template, and names another process as the clone for each launch: the one
 * whose number is in the file "victim". A launcher that believed this would kill that process. */
#include "fixture.h"

#include "../../../Sources/Runner/bgtask-runner/template.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void answer(const struct template_answer *answer, int descriptor) {
    char space[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec bytes = {(void *)answer, sizeof(*answer)};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = space;
        message.msg_controllen = sizeof(space);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    }
    sendmsg(3, &message, MSG_NOSIGNAL);
}

__attribute__((constructor)) static void at_load(void) {
    char text[32] = {0};
    int file = open("victim", O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text, sizeof(text) - 1) <= 0)
        _exit(1);
    struct template_answer loaded = {.what = TEMPLATE_LOADED, .cloneable = true};
    answer(&loaded, -1);
    struct clone_request request;
    while (recv(3, &request, sizeof(request), 0) > 0) {
        struct template_answer cloned = {.what = TEMPLATE_CLONED,
                                         .is_standby = request.is_standby,
                                         .launch = request.launch,
                                         .pid = atoi(text)};
        answer(&cloned, file);
    }
    _exit(0);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    host->complete(task, 1, NULL);
}
