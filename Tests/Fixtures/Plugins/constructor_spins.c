/* A constructor sets a timer, whose signal uses CPU time in the template for ever after that was loaded. The
 * number of the template is in the file "template". */
#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static void spin(int number) {
    (void)number;
    FILE *file = fopen("template.new", "w");
    if (file != NULL) {
        fprintf(file, "%d", (int)getpid());
        fclose(file);
        rename("template.new", "template");
    }
    for (;;)
        continue;
}

__attribute__((constructor)) static void at_load(void) {
    struct itimerval soon = {.it_value = {.tv_usec = 200000}};
    signal(SIGALRM, spin);
    setitimer(ITIMER_REAL, &soon, NULL);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    host->complete(task, 1, NULL);
}
