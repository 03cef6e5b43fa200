/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a call program: mapped ones, and saved ones. */
#include "call_program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int call_map_file(const char *path, void **address, size_t *size) {
    static char empty;
    /* Not blocking: opening a FIFO would wait for its writer. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return errno;
    struct stat status;
    int code = fstat(file, &status) < 0  ? errno
               : S_ISREG(status.st_mode) ? 0
               : S_ISDIR(status.st_mode) ? EISDIR
                                         : EINVAL;
    if (code == 0) {
        *size = (size_t)status.st_size;
        *address = &empty;
        /* A mapping of nothing is an error to mmap. */
        if (*size > 0)
            *address = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
        if (*address == MAP_FAILED)
            code = errno;
    }
    close(file);
    return code;
}

static int write_all(int file, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = write(file, bytes, length);
        if (count < 0) {
            if (errno == EINTR)
                continue;
            return errno;
        }
        bytes += count;
        length -= (size_t)count;
    }
    return fsync(file) < 0 ? errno : 0;
}

/* The rename is durable once its directory is. */
static int sync_directory(const char *path, size_t length) {
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%.*s", length ? (int)length : 1, length ? path : ".");
    int file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return errno;
    int code = fsync(file) < 0 ? errno : 0;
    close(file);
    return code;
}

int call_save(const char *path, const void *bytes, size_t length) {
    char temporary[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t directory_length = slash ? (size_t)(slash - path) + 1 : 0;
    const char *name = path + directory_length;
    int written = snprintf(temporary, sizeof temporary, "%.*s.%s.XXXXXX", (int)directory_length, path, name);
    if (written < 0 || (size_t)written >= sizeof temporary)
        return ENAMETOOLONG;
    struct stat old;
    bool is_old = stat(path, &old) == 0;
    int file = mkostemp(temporary, O_CLOEXEC);
    if (file < 0)
        return errno;
    /* mkostemp gives 0600; a file that is replaced keeps its permissions, a new one gets the umask's. */
    mode_t mask = umask(0);
    umask(mask);
    int code = fchmod(file, is_old ? old.st_mode & 0777 : 0666 & ~mask) < 0 ? errno : 0;
    if (code == 0)
        code = write_all(file, bytes, length);
    if (close(file) < 0 && code == 0)
        code = errno;
    if (code == 0 && rename(temporary, path) < 0)
        code = errno;
    if (code != 0) {
        unlink(temporary);
        return code;
    }
    return sync_directory(path, directory_length);
}
