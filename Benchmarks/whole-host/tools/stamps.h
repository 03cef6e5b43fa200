/* SPDX-License-Identifier: Apache-2.0
 *
 * Stamps: each handler and each peer's task appends a record of 24 bytes to a common file. A benchmark reads
 * the time at which a task's code ran from its stamp, so the time until the benchmark reads it does not
 * count.
 */
#ifndef BENCH_STAMPS_H
#define BENCH_STAMPS_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STAMP_RUN = 1, STAMP_EXPIRED = 2, STAMP_USED = 3 };

struct stamp {
    int64_t number; /* last label of the task's identifier */
    int64_t what;   /* one of STAMP_... */
    int64_t time;   /* CLOCK_MONOTONIC nanoseconds; CPU time in nanoseconds for STAMP_USED */
};

static inline int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Appends one record in one write. Returns 0, or -1 if that fails. */
static inline int append_stamp(const char *path, struct stamp stamp) {
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0)
        return -1;
    ssize_t written = write(file, &stamp, sizeof stamp);
    close(file);
    return written == sizeof stamp ? 0 : -1;
}

#endif
