/* Prints its permissions and the machine's conditions at its start and at each change, until it should
 * defer. */
#include "fixture.h"

#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static sem_t over;

static void print(const char *when, const bgtask_conditions *conditions) {
    printf("%s: low %d, thermal %d, power %d, battery %d, refresh %d, defer %d, gpu %d, "
           "network %d\n",
           when, conditions->low_power_mode, conditions->thermal, conditions->power, conditions->battery,
           conditions->refresh, conditions->should_defer, conditions->gpu, conditions->network);
}

static void changed(bgtask_task *task, const bgtask_conditions *conditions, void *context) {
    const bgtask_host *host = context;
    print("changed", conditions);
    bgtask_conditions now = {.struct_size = sizeof(now)};
    host->conditions(task, &now);
    printf("the same when asked: %d\n", now.battery == conditions->battery);
    if (conditions->should_defer)
        sem_post(&over);
}

static void print_list(const char *name, const char *const *list) {
    printf("%s:", name);
    for (; *list != NULL; list++)
        printf(" %s", *list);
    printf("\n");
}

// The new member lies beyond the size of the earlier struct, so an earlier plugin or runner is recognized.
_Static_assert(offsetof(bgtask_conditions, network) == 40, "the earlier struct has 40 bytes");

static void run(bgtask_task *task, const bgtask_host *host) {
    sem_init(&over, 0, 0);
    const bgtask_launch *launch = host->launch(task);
    print_list("permitted", launch->permitted_identifiers);
    print_list("modes", launch->modes);
    bgtask_conditions now = {.struct_size = sizeof(now)};
    host->conditions(task, &now);
    print("at first", &now);
    // The struct of another ABI version has another size; the host must write only fields that both know.
    struct {
        bgtask_conditions known;
        char later[8];
    } longer = {.known = {.struct_size = sizeof(longer)}, .later = "untold"};
    host->conditions(task, &longer.known);
    memset(&now, 0x55, sizeof(now));
    now.struct_size = offsetof(bgtask_conditions, power);
    host->conditions(task, &now);
    printf("longer %zu %s, shorter %d %x\n", longer.known.struct_size, longer.later, now.low_power_mode,
           (unsigned)now.battery);
    host->set_conditions_handler(task, changed, (void *)host);
    host->log(task, BGTASK_LOG_INFO, "waiting");
    sem_wait(&over);
    host->set_conditions_handler(task, NULL, NULL);
    host->complete(task, 1, NULL);
}
