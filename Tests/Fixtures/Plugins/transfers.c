/* A plugin in C with a background session: one task asks for the transfer that its payload describes, and the
 * other, of the kind transferEvents, learns of all ends and confirms them. */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

#define ANSWER_MAX 49152

static char answer[ANSWER_MAX + 1];

static void keep(const void *bytes, size_t length, void *context) {
    (void)context;
    length = length < ANSWER_MAX ? length : ANSWER_MAX;
    memcpy(answer, bytes, length);
    answer[length] = '\0';
}

/* Asks the host; `answer` has its answer. */
static int ask(bgtask_task *task, const bgtask_host *host, const char *question) {
    const bgtask_sessions *sessions = host->extension(task, BGTASK_SESSIONS);
    char why[256] = "the runner has no such extension";
    if (sessions != NULL &&
        sessions->call(task, question, strlen(question), keep, NULL, why, sizeof(why)) == BGTASK_OK)
        return 1;
    printf("refused: %s\n", why);
    return 0;
}

/* Copies the text that follows `"key":"` in the answer; a real plugin uses a library for JSON. */
static int text_of(const char *key, char *value, size_t size) {
    char pattern[32];
    snprintf(pattern, sizeof(pattern), "\"%s\":\"", key);
    const char *at = strstr(answer, pattern);
    if (at == NULL)
        return 0;
    at += strlen(pattern);
    snprintf(value, size, "%.*s", (int)strcspn(at, "\""), at);
    return 1;
}

static void run(bgtask_task *task, const bgtask_host *host) {
    const bgtask_launch *launch = host->launch(task);
    char question[4096], transfer[32] = "", name[32];
    if (launch->kind != BGTASK_KIND_TRANSFER_EVENTS) {
        snprintf(question, sizeof(question), "{\"ask\":\"begin\",\"session\":\"feed\",\"request\":%.*s}",
                 (int)launch->payload_length, (const char *)launch->payload);
        host->complete(task, ask(task, host, question) && text_of("transfer", transfer, sizeof(transfer)),
                       transfer);
        return;
    }
    for (;;) {
        const char *format = transfer[0] == '\0'
                                 ? "{\"ask\":\"list\",\"session\":\"feed\"}"
                                 : "{\"ask\":\"list\",\"session\":\"feed\",\"transfer\":\"%s\"}";
        snprintf(question, sizeof(question), format, transfer);
        if (!ask(task, host, question) || !text_of("transfer", transfer, sizeof(transfer)))
            break;
        printf("%s is in %s/.transfers/%s\n", transfer, launch->data_directory,
               text_of("file", name, sizeof(name)) ? name : "no file");
        snprintf(question, sizeof(question), "{\"ask\":\"told\",\"transfer\":\"%s\"}", transfer);
        ask(task, host, question);
    }
    host->complete(task, 1, NULL);
}
