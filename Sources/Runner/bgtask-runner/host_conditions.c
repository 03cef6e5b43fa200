/* The conditions of the machine: stores the newest ones from the host, and passes them to the plugin. */
#include "host_functions.h"
#include "task_state.h"

#include <string.h>

/* Returns a number that this version knows; for a larger one, returns `otherwise`. */
static int32_t known(uint64_t number, uint64_t last, int32_t otherwise) {
    return number <= last ? (int32_t)number : otherwise;
}

void conditions_take(bgtask_task *task, struct body body) {
    bgtask_conditions now = {
        .struct_size = sizeof(now),
        .low_power_mode = body_number(body, 1, 0) != 0,
        // An unknown thermal state comes from a newer host, so assume that it is hotter than all known ones.
        .thermal =
            (bgtask_thermal)known(body_number(body, 2, 0), BGTASK_THERMAL_CRITICAL, BGTASK_THERMAL_CRITICAL),
        .power = (bgtask_power)known(body_number(body, 3, 0), BGTASK_POWER_EXTERNAL, BGTASK_POWER_UNKNOWN),
        .battery = known(body_number(body, 4, UINT64_MAX), 100, -1),
        .refresh = (bgtask_refresh)known(body_number(body, 5, 0), BGTASK_REFRESH_AVAILABLE,
                                         BGTASK_REFRESH_RESTRICTED),
        .should_defer = body_number(body, 6, 0) != 0,
        .gpu = body_number(body, 7, 0) != 0,
        .network =
            (bgtask_network)known(body_number(body, 8, 0), BGTASK_NETWORK_UNMETERED, BGTASK_NETWORK_UNKNOWN),
        .interfaces = (uint32_t)body_number(body, 9, 0),
    };
    pthread_mutex_lock(&task->lock);
    const bgtask_conditions *before = &task->conditions;
    bool is_news = before->low_power_mode != now.low_power_mode || before->thermal != now.thermal ||
                   before->power != now.power || before->battery != now.battery ||
                   before->refresh != now.refresh || before->should_defer != now.should_defer ||
                   before->gpu != now.gpu || before->network != now.network ||
                   before->interfaces != now.interfaces;
    task->conditions = now;
    bgtask_conditions_handler handler = is_news ? task->conditions_handler : NULL;
    void *context = task->conditions_context;
    pthread_mutex_unlock(&task->lock);
    if (handler != NULL)
        handler(task, &now, context);
}

void host_conditions(bgtask_task *task, bgtask_conditions *conditions) {
    if (conditions == NULL)
        return;
    size_t size = conditions->struct_size;
    if (size > sizeof(*conditions))
        size = sizeof(*conditions);
    pthread_mutex_lock(&task->lock);
    if (size > sizeof(size_t)) // the plugin's struct may be older and shorter; its size stays unchanged
        memcpy((char *)conditions + sizeof(size_t), (const char *)&task->conditions + sizeof(size_t),
               size - sizeof(size_t));
    pthread_mutex_unlock(&task->lock);
}

void host_set_conditions_handler(bgtask_task *task, bgtask_conditions_handler handler, void *context) {
    pthread_mutex_lock(&task->lock);
    task->conditions_handler = handler;
    task->conditions_context = context;
    pthread_mutex_unlock(&task->lock);
}
