/* Gives a tree to a user with the host's own code, while its former owner exchanges a directory of the tree
 * for a link to one of root's, and a file for a second name of one of root's. Arguments: an empty directory,
 * and the number of the system call before which that happens. Needs root. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORMER = 64902, USER = 64903 };

static int moment, calls;

static void step(void) {
    if (++calls == moment && (renameat2(AT_FDCWD, "tree/d", AT_FDCWD, "link", RENAME_EXCHANGE) != 0 ||
                              renameat2(AT_FDCWD, "tree/f", AT_FDCWD, "name", RENAME_EXCHANGE) != 0))
        perror("exchange");
}

static int exchanging_openat(int parent, const char *name, int flags) {
    step();
    return openat(parent, name, flags);
}

static int exchanging_fstat(int file, struct stat *status) {
    step();
    return fstat(file, status);
}

static int exchanging_fchownat(int file, const char *name, uid_t user, gid_t group, int flags) {
    step();
    return fchownat(file, name, user, group, flags);
}

#define openat exchanging_openat
#define fstat exchanging_fstat
#define fchownat exchanging_fchownat
#include "owned_tree.c"
#undef openat
#undef fstat
#undef fchownat

static int make(const char *path, uid_t owner) {
    int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    return file < 0 || fchown(file, owner, owner) != 0 || close(file) != 0;
}

static int is_roots(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && status.st_uid == 0 && status.st_gid == 0;
}

int main(int count, char **arguments) {
    if (count != 3 || chdir(arguments[1]) != 0 || mkdir("secret", 0700) != 0 || make("secret/file", 0) ||
        symlink("secret", "link") != 0 || link("secret/file", "name") != 0 || mkdir("tree", 0700) != 0 ||
        mkdir("tree/d", 0700) != 0 || make("tree/d/file", FORMER) || make("tree/f", FORMER) ||
        chown("tree", FORMER, FORMER) != 0 || chown("tree/d", FORMER, FORMER) != 0)
        return 2;
    moment = atoi(arguments[2]);
    char path[4096];
    snprintf(path, sizeof(path), "%s/tree", arguments[1]);
    if (lx_give_tree(path, USER, FORMER, FORMER) != 0)
        perror("lx_give_tree");
    if (!is_roots("secret") || !is_roots("secret/file")) {
        puts("What belonged to root belongs to the user.");
        return 1;
    }
    return calls < moment ? 3 : 0; // there were no more calls
}
