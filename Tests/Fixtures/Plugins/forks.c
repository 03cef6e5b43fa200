/* Starts processes that stay, until the kernel refuses one or 200 exist, and reports how many it got and why
 * no more. The launch then ends, and all of them with it; with the label "stays", it goes on. */
#include "fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void run(bgtask_task *task, const bgtask_host *host) {
    char text[64];
    int count = 0;
    pid_t child = 0;
    while (count < 200 && (child = fork()) > 0)
        count++;
    int code = errno;
    if (child == 0)
        for (;;)
            pause();
    while (strcmp(strrchr(host->launch(task)->identifier, '.') + 1, "stays") == 0)
        pause();
    snprintf(text, sizeof text, "%d %s", count, child < 0 ? strerror(code) : "");
    host->complete(task, 1, text);
}
