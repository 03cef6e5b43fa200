/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the descendants of a process. */
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The processes found so far; their children are looked up in this order. */
struct tree {
    pid_t *found;
    size_t count, most;
    size_t threads, most_threads;
    size_t lists; /* How many more lists may be read: each thread has one. */
};

/* Adds the processes that a list of children names. */
static void add_children(int directory, const char *thread, struct tree *tree) {
    char path[64], text[4096];
    snprintf(path, sizeof(path), "%s/children", thread);
    int file = openat(directory, path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    tree->lists--;
    pid_t number = 0;
    ssize_t length;
    while (tree->count < tree->most && (length = read(file, text, sizeof(text))) > 0)
        for (ssize_t i = 0; i < length && tree->count < tree->most; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                number = number * 10 + (text[i] - '0');
            } else if (number > 0) {
                tree->found[tree->count++] = number;
                number = 0;
            }
        }
    close(file);
}

/* Counts the threads of a process, and adds their children. */
static void look_at(pid_t process, struct tree *tree) {
    char path[64];
    struct stat status;
    struct dirent *entry;
    snprintf(path, sizeof(path), "/proc/%d/task", process);
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return;
    // Beside the links of its subdirectories, one for each thread, a directory has two.
    size_t threads = fstat(directory, &status) == 0 && status.st_nlink > 2 ? status.st_nlink - 2 : 0;
    tree->threads += threads;
    if (threads == 1) {
        snprintf(path, sizeof(path), "%d", process);
        add_children(directory, path, tree);
        close(directory);
        return;
    }
    DIR *list = tree->threads <= tree->most_threads ? fdopendir(directory) : NULL;
    if (list == NULL) {
        close(directory);
        return;
    }
    while (tree->count < tree->most && tree->lists > 0 && (entry = readdir(list)) != NULL)
        if (entry->d_name[0] != '.')
            add_children(dirfd(list), entry->d_name, tree);
    closedir(list);
}

size_t lx_descendants(pid_t root, pid_t *found, size_t most, size_t *threads) {
    struct tree tree = {.found = found, .most = most, .lists = 4 * most, .most_threads = *threads};
    if (most > 0)
        found[tree.count++] = root;
    for (size_t i = 0; i < tree.count && tree.lists > 0 && tree.threads <= tree.most_threads; i++)
        look_at(found[i], &tree);
    *threads = tree.threads;
    return tree.count;
}
