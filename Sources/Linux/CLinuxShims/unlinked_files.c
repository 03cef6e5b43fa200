/* SPDX-License-Identifier: Apache-2.0 */
/* Finds files without a name, which only the processes that use them keep. */
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Adds a file, unless the table has it. Returns false if the table is full. */
static bool add_file(const struct stat *status, int64_t bytes, struct lx_file_table *table) {
    uint64_t hash = (status->st_ino ^ (uint64_t)status->st_dev << 32) * 0x9E3779B97F4A7C15;
    size_t at = (hash >> 32) & (table->room - 1);
    while (table->places[at].device != 0) {
        if (table->places[at].device == status->st_dev && table->places[at].inode == status->st_ino)
            return true;
        at = (at + 1) & (table->room - 1);
    }
    if (table->count >= table->room / 2)
        return false;
    table->count++;
    table->places[at] = (struct lx_file){status->st_dev, status->st_ino, bytes};
    return true;
}

void lx_ignore_file(struct lx_file file, struct lx_file_table *table) {
    struct stat status = {.st_dev = file.device, .st_ino = file.inode};
    add_file(&status, 0, table);
}

bool lx_identify(const char *path, struct lx_file *file) {
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    *file = (struct lx_file){status.st_dev, status.st_ino, (int64_t)status.st_blocks * 512};
    return true;
}

/* The number of descriptors that wait in a socket to be received. */
static int64_t descriptors_in_flight(pid_t process, const char *socket) {
    char path[64], line[128];
    snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.20s", process, socket);
    FILE *file = fopen(path, "re");
    long long count = 0;
    while (file != NULL && count == 0 && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "scm_fds: %lld", &count) != 1)
            count = 0;
    if (file != NULL)
        fclose(file);
    return count;
}

/* Adds the unlinked files that the links in a directory of /proc lead to. Returns false if there are too
 * many. */
static bool add_files(pid_t process, const char *name, bool are_open, struct lx_file_table *table) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", process, name);
    DIR *directory = opendir(path);
    struct dirent *entry;
    struct stat status;
    bool is_complete = true;
    while (directory != NULL && is_complete && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        is_complete = table->links-- > 0;
        if (!is_complete || fstatat(dirfd(directory), entry->d_name, &status, 0) != 0)
            continue;
        if (S_ISREG(status.st_mode) && status.st_nlink == 0)
            is_complete = add_file(&status, (int64_t)status.st_blocks * 512, table);
        else if (are_open && S_ISSOCK(status.st_mode))
            table->in_flight += descriptors_in_flight(process, entry->d_name);
    }
    if (directory != NULL)
        closedir(directory);
    return is_complete;
}

bool lx_add_unlinked_files(pid_t process, struct lx_file_table *table) {
    process = lx_living_thread(process);
    return add_files(process, "fd", true, table) && add_files(process, "map_files", false, table);
}

uint64_t lx_device(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? status.st_dev : 0;
}

uint64_t lx_shared_memory_device(void) {
    struct stat status = {0};
    int file = memfd_create("bgtask", MFD_CLOEXEC);
    if (file >= 0) {
        fstat(file, &status);
        close(file);
    }
    return status.st_dev;
}
