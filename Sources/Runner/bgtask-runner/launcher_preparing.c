/* The launcher's handling of *prepare*: it asks the template for a standby. */
#include "launcher.h"
#include "process.h"
#include "template.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Asks the template for a standby. On failure, returns false with a sentence in `finding`. */
static bool ask(struct template *template, char *finding, size_t size) {
    struct standby *standby = &template->standby;
    int sockets[2];
    int group = open(standby->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (group < 0) {
        snprintf(finding, size, "open(%.300s): %s (%d)", standby->cgroup, strerror(errno), errno);
        return false;
    }
    bool done = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0;
    if (done) {
        int descriptors[STANDBY_DESCRIPTORS] = {[STANDBY_ASKS] = sockets[1], [STANDBY_GROUP] = group};
        // The launcher moves a standby of another user to its group; see launches_spawn.
        struct clone_request request = {.is_standby = true,
                                        .subprocesses = standby->subprocesses,
                                        .has_group = !sandbox_has_user(&template->settings.sandbox)};
        standby->socket = sockets[0];
        done = templates_ask(template, &request, descriptors,
                             request.has_group ? STANDBY_DESCRIPTORS : STANDBY_GROUP);
        close(sockets[1]);
    }
    if (!done)
        snprintf(finding, size, "the socket of a standby can't be created: %s (%d)", strerror(errno), errno);
    close(group);
    return done;
}

void standbys_prepare(struct launcher *launcher, struct body body) {
    uint64_t id = body_number(body, 1, 0);
    struct template *template = templates_find(launcher, id);
    if (template == NULL || template->retired || !template->cloneable) {
        standbys_answer(launcher, id, "there is no such template, or no task can be cloned from it");
        return;
    }
    struct standby *standby = &template->standby;
    if (standby->state != STANDBY_NONE || template->isolation != ISOLATION_CGROUP) {
        standbys_answer(launcher, id, "the template already has a standby, or its tasks have no cgroups");
        return;
    }
    char finding[512] = "no memory";
    standby->cgroup = body_text(body, 2);
    standby->subprocesses = body_number(body, 3, 0) != 0;
    if (standby->cgroup != NULL && ask(template, finding, sizeof(finding))) {
        standby->state = STANDBY_ASKED;
    } else {
        standbys_forget(standby);
        standbys_answer(launcher, id, finding);
    }
}
