/* SPDX-License-Identifier: Apache-2.0
 *
 * A handler that only completes, so that its run time is the cost of a launch.
 */
#include <bgtask.h>

static void run(bgtask_task *task, const bgtask_host *host) {
    host->complete(task, 1, NULL);
}

static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof plugin, run};

const bgtask_plugin *bgtask_plugin_entry(void) {
    return &plugin;
}
