/* A constructor sets a timer, whose signal starts 200 threads in the template after that was loaded. The
 * number of the template is in the file "template". */
#include "fixture.h"
#include "threads.h"

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static void take_threads(int number) {
    (void)number;
    // The file comes first, because the host may kill the template before all threads have started.
    FILE *file = fopen("template.new", "w");
    if (file != NULL) {
        fprintf(file, "%d", (int)getpid());
        fclose(file);
        rename("template.new", "template");
    }
    start_threads(200);
}

__attribute__((constructor)) static void at_load(void) {
    struct itimerval soon = {.it_value = {.tv_usec = 200000}};
    signal(SIGALRM, take_threads);
    setitimer(ITIMER_REAL, &soon, NULL);
}

static void run(bgtask_task *task, const bgtask_host *host) {
    host->complete(task, 1, NULL);
}
