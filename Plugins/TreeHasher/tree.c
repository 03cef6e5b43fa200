/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The walk skips deeper directories, because it needs one descriptor for each level. */
#define DEEPEST 200

struct walk {
    struct tree *tree;
    size_t capacity;
    size_t *skipped;
    int (*stop)(void *);
    void *context;
};

static int compare(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static int add(struct walk *walk, char *path, uint64_t size) {
    struct tree *tree = walk->tree;
    if (tree->count == walk->capacity) {
        size_t capacity = walk->capacity ? walk->capacity * 2 : 1024;
        char **paths = realloc(tree->paths, capacity * sizeof *paths);
        if (paths == NULL)
            return ENOMEM;
        tree->paths = paths;
        walk->capacity = capacity;
    }
    tree->paths[tree->count++] = path;
    tree->bytes += size;
    return 0;
}

/* Lists the directory that `descriptor` refers to, and closes the descriptor. */
static int visit(struct walk *walk, int descriptor, const char *prefix, int depth) {
    DIR *directory = fdopendir(descriptor);
    if (directory == NULL) {
        close(descriptor);
        return ENOMEM;
    }
    int failure = 0;
    struct dirent *entry;
    while (failure == 0 && (entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (walk->stop(walk->context)) {
            failure = ECANCELED;
            break;
        }
        struct stat status;
        if (fstatat(descriptor, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        char *path = NULL;
        if (asprintf(&path, "%s%s%s", prefix, *prefix ? "/" : "", entry->d_name) < 0) {
            failure = ENOMEM;
        } else if (S_ISREG(status.st_mode)) {
            failure = add(walk, path, (uint64_t)status.st_size);
        } else if (S_ISDIR(status.st_mode)) {
            int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
            int inner = depth < DEEPEST ? openat(descriptor, entry->d_name, flags) : -1;
            if (inner < 0) {
                *walk->skipped += 1;
            } else {
                failure = visit(walk, inner, path, depth + 1);
            }
            free(path);
        } else {
            free(path);
        }
    }
    closedir(directory);
    return failure;
}

int tree_list(const char *root, struct tree *tree, size_t *skipped, int (*stop)(void *), void *context) {
    struct walk walk = {.tree = tree, .skipped = skipped, .stop = stop, .context = context};
    *tree = (struct tree){0};
    *skipped = 0;
    int descriptor = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return errno;
    int failure = visit(&walk, descriptor, "", 0);
    if (failure == 0 && tree->count > 1)
        qsort(tree->paths, tree->count, sizeof *tree->paths, compare);
    return failure;
}
