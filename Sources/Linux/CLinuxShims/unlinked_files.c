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

/* Adds the unlinked files that the links in a directory of /proc lead to. */
static size_t add_files(const char *path, bool are_mapped, struct lx_file *files, size_t count, size_t room) {
    DIR *directory = opendir(path);
    struct dirent *entry;
    struct stat status;
    while (directory != NULL && count < room && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.' && fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 &&
            S_ISREG(status.st_mode) && status.st_nlink == 0 && !(are_mapped && is_copy(&status)))
            files[count++] = (struct lx_file){status.st_dev, status.st_ino, (int64_t)status.st_blocks * 512};
    if (directory != NULL)
        closedir(directory);
    return count;
}

size_t lx_unlinked_files(pid_t process, struct lx_file *files, size_t room) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd", process);
    size_t count = add_files(path, false, files, 0, room);
    snprintf(path, sizeof(path), "/proc/%d/map_files", process);
    return add_files(path, true, files, count, room);
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
