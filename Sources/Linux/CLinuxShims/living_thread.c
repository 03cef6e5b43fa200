/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a thread that still shows what its process uses. */
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* Whether /proc shows memory of a thread: not after the thread has ended. */
static bool has_memory(pid_t thread) {
    char path[32];
    unsigned long pages = 0;
    snprintf(path, sizeof(path), "/proc/%d/statm", thread);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool has = fscanf(file, "%lu", &pages) == 1 && pages > 0;
    fclose(file);
    return has;
}

pid_t lx_living_thread(pid_t process) {
    if (has_memory(process))
        return process;
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/task", process);
    DIR *threads = opendir(path);
    pid_t living = process;
    struct dirent *entry;
    while (threads != NULL && living == process && (entry = readdir(threads)) != NULL) {
        pid_t thread = atoi(entry->d_name);
        if (thread > 0 && thread != process && has_memory(thread))
            living = thread;
    }
    if (threads != NULL)
        closedir(threads);
    return living;
}
