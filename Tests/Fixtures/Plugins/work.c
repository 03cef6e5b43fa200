/* Uses each basic call: prints, reports progress 100,000 times, logs, saves, and completes twice. */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

static void run(bgtask_task *task, const bgtask_host *host) {
    const bgtask_launch *launch = host->launch(task);
    printf("%s of %s, attempt %u, payload %.*s, checkpoint %.*s\n", launch->identifier, launch->bundle,
           launch->attempt, (int)launch->payload_length, (const char *)launch->payload,
           (int)launch->checkpoint_length, (const char *)launch->checkpoint);
    fprintf(stderr, "to stderr\n");
    for (int i = 1; i <= 100000; i++)
        host->progress(task, i, 100000, i == 1 ? "counting" : NULL);
    host->log(task, BGTASK_LOG_WARNING, "not UTF-8: \xff");
    host->checkpoint(task, "saved", strlen("saved"));
    host->complete(task, 1, "all done");
    host->complete(task, 0, "too late");
}
