/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a call program maps. */
#include "call_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a regular file. Returns 0, or an error number. */
static int open_regular(const char *path, int *file, size_t *size) {
    /* O_NONBLOCK, because opening a FIFO would wait for a writer. */
    *file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*file < 0)
        return errno;
    struct stat status;
    int code = fstat(*file, &status) < 0 ? errno
               : S_ISREG(status.st_mode) ? 0
               : S_ISDIR(status.st_mode) ? EISDIR
                                         : EINVAL;
    if (code == 0)
        *size = (size_t)status.st_size;
    else
        close(*file);
    return code;
}

int call_map_file(const char *path, void **address, size_t *size) {
    static char empty;
    int file, code = open_regular(path, &file, size);
    if (code == 0) {
        *address = &empty;
        /* mmap fails for a length of 0. */
        if (*size > 0)
            *address = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
        if (*address == MAP_FAILED)
            code = errno;
        close(file);
    }
    return code;
}

int call_read_file(const char *path, void **address, size_t *size) {
    int file, code = open_regular(path, &file, size);
    if (code != 0)
        return code;
    uint8_t *bytes = malloc(*size + 1);
    size_t length = 0;
    code = bytes == NULL ? ENOMEM : 0;
    while (code == 0 && length < *size) {
        ssize_t count = read(file, bytes + length, *size - length);
        if (count == 0)
            break; /* the file became shorter */
        if (count > 0)
            length += (size_t)count;
        else if (errno != EINTR)
            code = errno;
    }
    close(file);
    if (code != 0) {
        free(bytes);
        return code;
    }
    bytes[length] = 0;
    *address = bytes;
    *size = length;
    return 0;
}
