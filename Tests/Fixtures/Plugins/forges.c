/* Its constructor takes over the template, and sends packets that the launcher does not expect. The
 * environment variable FORGES selects which. */
#include "fixture.h"

#include "../../../Sources/Runner/bgtask-runner/template.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Sends a packet with up to 6 copies of a descriptor; false at the end of the launcher's interest. */
static int put(const void *packet, size_t size, int descriptor, int copies) {
    char space[CMSG_SPACE(6 * sizeof(int))] = {0};
    struct iovec bytes = {(void *)packet, size};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (copies > 0) {
        message.msg_control = space;
        message.msg_controllen = CMSG_SPACE((size_t)copies * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN((size_t)copies * sizeof(int));
        for (int i = 0; i < copies; i++)
            memcpy(CMSG_DATA(header) + (size_t)i * sizeof(int), &descriptor, sizeof(int));
    }
    return sendmsg(3, &message, MSG_NOSIGNAL) >= 0;
}

static int answer(int what, uint64_t launch) {
    struct template_answer answer = {.launch = launch, .cloneable = true, .pid = getpid()};
    memcpy(&answer.what, &what, sizeof what);
    return put(&answer, sizeof answer, -1, 0);
}

__attribute__((constructor)) static void at_load(void) {
    const char *forges = getenv("FORGES");
    if (strcmp(forges, "empty") == 0) {
        put(NULL, 0, open("/dev/null", O_RDONLY | O_CLOEXEC), 6);
    } else if (strcmp(forges, "loaded") == 0 || strcmp(forges, "failed") == 0) {
        while (answer(strcmp(forges, "loaded") == 0 ? TEMPLATE_LOADED : TEMPLATE_LOAD_FAILED, 0))
            continue;
    } else if (strcmp(forges, "failed-once") == 0) {
        int alive = open("alive", O_WRONLY | O_CLOEXEC); // its other end shows the end of this process
        answer(TEMPLATE_LOAD_FAILED, 0);
        while (alive >= 0)
            continue;
    } else if (strcmp(forges, "unasked") == 0) {
        answer(TEMPLATE_LOADED, 0);
        answer(TEMPLATE_CLONE_FAILED, 1);
    } else if (strcmp(forges, "twice") == 0) {
        struct clone_request request;
        answer(TEMPLATE_LOADED, 0);
        if (recv(3, &request, sizeof request, 0) > 0) {
            answer(TEMPLATE_CLONE_FAILED, request.launch);
            answer(TEMPLATE_CLONE_FAILED, request.launch);
        }
    } else if (strcmp(forges, "failing") == 0) {
        struct clone_request request;
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        answer(TEMPLATE_LOADED, 0);
        while (recv(3, &request, sizeof request, 0) > 0) {
            struct template_answer failed = {
                .what = TEMPLATE_CLONE_FAILED, .launch = request.launch, .is_standby = request.is_standby};
            put(&failed, sizeof failed, null, 6);
        }
    }
    for (;;)
        pause();
}

static void run(bgtask_task *task, const bgtask_host *host) {
    host->complete(task, 1, NULL);
}
