/* Sends every message that the host does not answer, submits with every option, and lists the pending
   requests with their titles. */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

static void print(const bgtask_pending_request *request, void *context) {
    (void)context;
    printf("pending %s “%s” “%s”\n", request->identifier, request->title, request->subtitle);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    host->log_as(task, BGTASK_LOG_ERROR, "com.example", "export", "with names");
    host->log_as(task, BGTASK_LOG_DEBUG, NULL, NULL, "without");
    host->advise(task, "aCode", "a sentence");
    host->advise(task, NULL, "without a code it is nothing");
    char longText[5000];
    memset(longText, 'x', sizeof(longText) - 1);
    longText[sizeof(longText) - 1] = 0;
    host->advise(task, longText, longText);
    host->set_title(task, "Exporting", "7 of 12");
    host->set_title(task, "Alone", NULL);
    host->fault(task, "0x8badf00d", "not this time");
    bgtask_request request = {
        .struct_size = sizeof(request),
        .identifier = "com.example.next",
        .title = "Next",
        .subtitle = "of many",
        .fails_unless_immediate = 1,
        .requires_gpu = 1,
        .deadline_milliseconds = 1700000360000,
        .kind = BGTASK_KIND_CONTINUED_PROCESSING,
    };
    host->submit(task, &request, NULL, 0);
    host->pending(task, print, NULL);
    host->complete(task, 1, NULL);
}
