/* SPDX-License-Identifier: Apache-2.0
 *
 * The regular files under a directory, in an order that two attempts agree on.
 */
#ifndef TREEHASHER_TREE_H
#define TREEHASHER_TREE_H

#include <stddef.h>
#include <stdint.h>

/** The files of a tree. Never freed: the process ends with the launch. */
struct tree {
    char **paths;   /**< Relative to the root, ordered by bytes. */
    size_t count;   /**< Files. */
    uint64_t bytes; /**< Their sizes, added up while listing. */
};

/**
 * Lists the regular files under `root`; symbolic links are not followed, unreadable directories are left out
 * and counted in `skipped`. `stop` is asked now and then, and a true answer ends the listing.
 *
 * Returns 0, ECANCELED if `stop` said so, or the errno of opening `root` or of memory.
 */
int tree_list(const char *root, struct tree *tree, size_t *skipped, int (*stop)(void *), void *context);

#endif
