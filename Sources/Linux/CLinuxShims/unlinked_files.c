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

/* Whether a file is the host's own copy of a library, which may be replaced while a task has it mapped. */
static bool is_copy(const struct stat *status) {
    return status->st_uid == geteuid() && (status->st_mode & 0222) == 0;
}

/* Adds a file, unless the table has it. Returns false if the table is full. */
static bool add_file(const struct stat *status, struct lx_file_table *table) {
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
    table->places[at] = (struct lx_file){status->st_dev, status->st_ino, (int64_t)status->st_blocks * 512};
    return true;
}

/* Adds the unlinked files that the links in a directory of /proc lead to. Returns false if there are too
 * many. */
static bool add_files(const char *path, bool are_mapped, struct lx_file_table *table) {
    DIR *directory = opendir(path);
    struct dirent *entry;
    struct stat status;
    bool is_complete = true;
    while (directory != NULL && is_complete && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        is_complete = table->links-- > 0;
        if (is_complete && fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 &&
            S_ISREG(status.st_mode) && status.st_nlink == 0 && !(are_mapped && is_copy(&status)))
            is_complete = add_file(&status, table);
    }
    if (directory != NULL)
        closedir(directory);
    return is_complete;
}

bool lx_add_unlinked_files(pid_t process, struct lx_file_table *table) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd", process);
    if (!add_files(path, false, table))
        return false;
    snprintf(path, sizeof(path), "/proc/%d/map_files", process);
    return add_files(path, true, table);
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
