/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a call program maps. */
#include "call_program.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int call_map_file(const char *path, void **address, size_t *size) {
    static char empty;
    /* O_NONBLOCK, because opening a FIFO would wait for a writer. */
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
        /* mmap fails for a length of 0. */
        if (*size > 0)
            *address = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
        if (*address == MAP_FAILED)
            code = errno;
    }
    close(file);
    return code;
}
