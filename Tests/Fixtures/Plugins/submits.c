/* Submits a request, gets a refusal, and lists the pending requests. */
#include "fixture.h"

#include <stdio.h>

static void print(const bgtask_pending_request *request, void *context) {
    (void)context;
    printf("pending %llu %s\n", (unsigned long long)request->request_id, request->identifier);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    char why[64];
    bgtask_request request = {.struct_size = sizeof(request), .identifier = "com.example.next"};
    bgtask_error error = host->submit(task, &request, why, sizeof(why));
    printf("submit %d: %s\n", error, why);
    printf("pending %d\n", host->pending(task, print, NULL));
    host->complete(task, 1, NULL);
}
