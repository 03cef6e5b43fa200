/* Reports progress with a message in which a character crosses the limit. */
#include "fixture.h"

#include <string.h>

static void run(bgtask_task *task, const bgtask_host *host) {
    char message[1100] = {0};
    memset(message, 'x', 1022);
    strcat(message, "\xF0\x9F\x9A\x80 and more");
    host->progress(task, 1, 2, message);
}
