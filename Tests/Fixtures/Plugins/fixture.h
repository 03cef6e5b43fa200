/* The entry point of every fixture: a plugin whose handler is the fixture's function `run`. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "bgtask.h"

static void run(bgtask_task *task, const bgtask_host *host);

static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof(plugin), run};

BGTASK_EXPORT const bgtask_plugin *bgtask_plugin_entry(void) {
    return &plugin;
}

#endif
