/* SPDX-License-Identifier: Apache-2.0
 *
 * The regular files under a directory, in an order that is the same in every attempt.
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
 * Lists the regular files under `root`. It does not follow symbolic links; it leaves out unreadable
 * directories and counts them in `skipped`. It calls `stop` regularly, and ends if `stop` returns true.
 *
 * Returns 0; ECANCELED if `stop` ended it; otherwise the errno of opening `root`, or ENOMEM.
 */
int tree_list(const char *root, struct tree *tree, size_t *skipped, int (*stop)(void *), void *context);

#endif
