#include "bgtask.h"

static const bgtask_plugin plugin = {BGTASK_ABI_VERSION + 1, sizeof(plugin), 0};

BGTASK_EXPORT const bgtask_plugin *bgtask_plugin_entry(void) {
    return &plugin;
}
