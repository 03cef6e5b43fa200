/* SPDX-License-Identifier: Apache-2.0 */
/* Removes directory trees that hostile tasks may have made, and may change meanwhile: of any depth, and
 * without following a link. Every step names an entry of an open directory, so a directory that is exchanged
 * for a link is never entered. A deep tree is made flat: the subdirectories of each directory move up to the
 * top, so neither the stack nor the open descriptors grow with the depth. */
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* The tree that is being removed. */
struct tree {
    int top;
    dev_t device;         /* Of the top; other file systems are not entered. */
    unsigned long serial; /* Of the next directory that moves to the top; 0 at first. */
    int failure;          /* The first errno that prevents the removal; 0 if there is none. */
};

/* Opens a directory, but no link to one. A directory whose mode forbids that gets another mode first. */
static int open_directory(int parent, const char *name) {
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int directory = openat(parent, name, flags);
    if (directory >= 0 || errno != EACCES)
        return directory;
    int place = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0)
        return -1;
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
    if (chmod(path, 0700) == 0)
        directory = openat(place, ".", flags);
    int code = errno;
    close(place);
    errno = code;
    return directory;
}

/* Removes an entry that is a file, a link or an empty directory. Returns false for another directory, and
 * after a failure. */
static bool remove_simple(struct tree *tree, int parent, const char *name) {
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return true;
    int code = errno;
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return true;
    // If the entry is no directory, the first error says why it stays. If it was one at the first call, it
    // was exchanged, and the next pass finds what is there now.
    if (errno == ENOTDIR)
        tree->failure = code == EISDIR ? 0 : code;
    else if (errno != ENOTEMPTY && errno != EEXIST)
        tree->failure = errno;
    return false;
}

/* A number whose name no task can have taken: they come from a random one. */
static unsigned long next_serial(struct tree *tree) {
    if (tree->serial == 0 && getrandom(&tree->serial, sizeof(tree->serial), GRND_NONBLOCK) < 0)
        tree->serial = (unsigned long)getpid();
    return tree->serial++;
}

/* Moves a subdirectory to the top, under a new name. */
static void move_up(struct tree *tree, int parent, const char *name) {
    char place[64];
    for (int tries = 0; tries < 1000; tries++) {
        snprintf(place, sizeof(place), ".remove-%016lx", next_serial(tree));
        if (renameat(parent, name, tree->top, place) == 0 || errno == ENOENT)
            return;
        if (errno == EACCES) { // its entry ".." changes, so it must be writable
            int directory = open_directory(parent, name);
            if (directory >= 0)
                fchmod(directory, 0700), close(directory);
        } else if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) {
            break;
        }
    }
    tree->failure = errno;
}

/* Removes the entries of an open directory; what can't be removed yet is given to `other`. The directory is
 * closed. Returns the number of entries that it had. */
static long each(struct tree *tree, int directory, void other(struct tree *, int, const char *)) {
    DIR *stream = fdopendir(directory);
    if (stream == NULL) {
        tree->failure = errno;
        close(directory);
        return 0;
    }
    long count = 0;
    for (struct dirent *entry; tree->failure == 0 && (entry = readdir(stream)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        count++;
        if (!remove_simple(tree, dirfd(stream), entry->d_name) && tree->failure == 0)
            other(tree, dirfd(stream), entry->d_name);
    }
    closedir(stream);
    return count;
}

/* Empties a directory at the top, whose subdirectories move up, and removes it. */
static void flatten(struct tree *tree, int top, const char *name) {
    int directory = open_directory(top, name);
    struct stat status;
    if (directory < 0) {
        // It was exchanged or removed meanwhile; the next pass sees what it is now.
        if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
            tree->failure = errno;
        return;
    }
    if (fstat(directory, &status) != 0 || status.st_dev != tree->device) {
        tree->failure = EBUSY;
        close(directory);
        return;
    }
    each(tree, directory, move_up);
    if (tree->failure == 0)
        unlinkat(top, name, AT_REMOVEDIR); // if it is not empty again, the next pass finds it
}

int lx_remove_tree(const char *path) {
    if (unlink(path) == 0)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    struct tree tree = {.top = open_directory(AT_FDCWD, path)};
    struct stat status;
    if (tree.top < 0)
        return -1;
    if (fstat(tree.top, &status) != 0)
        tree.failure = errno;
    tree.device = status.st_dev;
    // Each pass removes at least one level, and a file system has less than 2^31 directories. A task that
    // goes on adding entries ends with its launch.
    for (long entries = 1; entries > 0 && tree.failure == 0;) {
        int directory = openat(tree.top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        entries = directory >= 0 ? each(&tree, directory, flatten) : 0;
        if (directory < 0)
            tree.failure = errno;
    }
    close(tree.top);
    if (tree.failure == 0 && rmdir(path) == 0)
        return 0;
    if (tree.failure != 0)
        errno = tree.failure;
    return -1;
}
