/* Removes a tree with the host's own code, and exchanges a directory of it for a link at one moment: after
 * the n-th call of unlinkat that fails. Arguments: a directory for the tree, and n. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int calls_left;

static int exchanging_unlinkat(int parent, const char *name, int flags) {
    int result = unlinkat(parent, name, flags), code = errno;
    if (result != 0 && --calls_left == 0 &&
        renameat2(AT_FDCWD, "gone/directory", AT_FDCWD, "link", RENAME_EXCHANGE) != 0)
        perror("exchange");
    errno = code;
    return result;
}

#define unlinkat exchanging_unlinkat
#include "remove_tree.c"

static void make_file(const char *path) {
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

int main(int count, char **arguments) {
    if (count != 3 || chdir(arguments[1]) != 0)
        return 2;
    calls_left = atoi(arguments[2]);
    char kept[4096];
    snprintf(kept, sizeof(kept), "%s/kept", arguments[1]);
    mkdir("kept", 0700);
    make_file("kept/file");
    mkdir("gone", 0700);
    mkdir("gone/directory", 0700);
    make_file("gone/directory/file");
    if (symlink(kept, "link") != 0)
        return 2;
    if (lx_remove_tree("gone") != 0) {
        perror("remove");
        return 1;
    }
    if (access("kept/file", F_OK) != 0) {
        puts("The file behind the link was removed.");
        return 1;
    }
    return 0;
}
