/* A constructor makes a child of the launcher, and a timer's signal makes another one after the load. Both
 * are in the group of the template, and so in one that the launcher knows. The FIFO "early" and the file
 * "child" show how long they live. */
#include "fixture.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* Makes a process beside this one; it does nothing until it is killed. */
static pid_t make_sibling(void) {
    struct clone_args arguments = {.flags = CLONE_PARENT};
    pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
    while (child == 0)
        pause();
    return child;
}

static void later(int number) {
    (void)number;
    pid_t child = make_sibling();
    FILE *file = fopen("child.new", "w");
    if (file != NULL) {
        fprintf(file, "%d", (int)child);
        fclose(file);
        rename("child.new", "child");
    }
}

__attribute__((constructor)) static void at_load(void) {
    int early = open("early", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (early >= 0) {
        make_sibling();
        close(early);
        return;
    }
    struct itimerval soon = {.it_value = {.tv_usec = 200000}};
    signal(SIGALRM, later);
    setitimer(ITIMER_REAL, &soon, NULL);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    host->complete(task, 1, NULL);
}
