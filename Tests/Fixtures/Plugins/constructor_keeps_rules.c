/* A constructor sets a timer, whose signal makes rules of Landlock in the template after that was loaded. The
 * number of the template is in the file "template". */
#include "fixture.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static void make_rules(int number) {
    (void)number;
    enum { CREATE = 444 }; // landlock_create_ruleset, which old headers lack
    uint64_t files = 1;
    FILE *file = syscall(CREATE, &files, sizeof files, 0) >= 0 ? fopen("template.new", "w") : NULL;
    if (file != NULL) {
        fprintf(file, "%d", (int)getpid());
        fclose(file);
        rename("template.new", "template");
    }
}

__attribute__((constructor)) static void at_load(void) {
    struct itimerval soon = {.it_value = {.tv_usec = 200000}};
    signal(SIGALRM, make_rules);
    setitimer(ITIMER_REAL, &soon, NULL);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    host->complete(task, 1, NULL);
}
