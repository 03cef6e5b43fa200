/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the space of directory trees that hostile tasks make and change meanwhile. No link is followed, and
 * the number of entries and the memory are limited. */
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The directories that are not counted yet, as paths relative to the first one. */
struct queue {
    char **paths;
    size_t count, room, bytes;
};

/* The most memory for the paths of directories. */
enum { QUEUE_BYTES_MAX = 16 << 20 };

static int push(struct queue *queue, const char *parent, const char *name) {
    if (queue->count == queue->room) {
        size_t room = queue->room == 0 ? 64 : queue->room * 2;
        char **paths = realloc(queue->paths, room * sizeof(char *));
        if (paths == NULL)
            return -1;
        queue->paths = paths;
        queue->room = room;
    }
    size_t length = strlen(parent) + strlen(name) + 2;
    char *path = queue->bytes + length <= QUEUE_BYTES_MAX ? malloc(length) : NULL;
    if (path == NULL)
        return -1;
    queue->bytes += length;
    strcpy(path, parent);
    strcat(path, "/");
    strcat(path, name);
    queue->paths[queue->count++] = path;
    return 0;
}

/* Whether a call failed because the task has removed or exchanged the directory meanwhile. After any other
 * failure the count is not complete: a task could otherwise hide files in a directory that permits
 * nothing. */
static bool is_gone(int code) {
    return code == ENOENT || code == ENOTDIR || code == ELOOP;
}

/* Counts the entries of one directory; adds its directories to the queue. */
static void count(DIR *directory, const char *path, dev_t device, struct queue *queue,
                  struct lx_tree_size *size) {
    struct dirent *entry;
    while (size->is_complete && (entry = readdir(directory)) != NULL) {
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            size->is_complete = size->is_complete && is_gone(errno);
            continue;
        }
        size->bytes += (int64_t)status.st_blocks * 512;
        size->is_complete = --size->left > 0;
        if (S_ISDIR(status.st_mode) && status.st_dev == device &&
            (strlen(path) + strlen(entry->d_name) + 2 >= PATH_MAX || push(queue, path, entry->d_name) != 0))
            size->is_complete = false;
    }
}

/* Opens a directory below another one without following links. */
static DIR *open_below(int top, const char *path) {
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    int file = (int)syscall(SYS_openat2, top, path, &how, sizeof(how));
    DIR *directory = file >= 0 ? fdopendir(file) : NULL;
    if (file >= 0 && directory == NULL)
        close(file);
    return directory;
}

struct lx_tree_size lx_tree_size(const char *path, int64_t most) {
    struct lx_tree_size size = {.left = most, .is_complete = true};
    int top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat status;
    if (top < 0) {
        size.is_complete = is_gone(errno); // a directory that is not there has no files
        return size;
    }
    struct queue queue = {0};
    if (fstat(top, &status) != 0 || push(&queue, ".", ".") != 0)
        size.is_complete = false;
    while (queue.count > 0) {
        char *next = queue.paths[--queue.count];
        queue.bytes -= strlen(next) + 1;
        // A directory that the task has removed meanwhile does not count.
        DIR *directory = size.is_complete ? open_below(top, next) : NULL;
        if (directory == NULL)
            size.is_complete = size.is_complete && is_gone(errno);
        else {
            count(directory, next, status.st_dev, &queue, &size);
            closedir(directory);
        }
        free(next);
    }
    free(queue.paths);
    close(top);
    return size;
}
