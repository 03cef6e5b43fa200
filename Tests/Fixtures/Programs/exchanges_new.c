/* Makes a directory for a user with the host's own code, below a directory of that user, who exchanges the
 * new directory for one of root's right after its creation. Argument: an empty directory. Needs root. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { USER = 64901 };

static int exchanging_mkdirat(int parent, const char *name, mode_t mode) {
    int result = mkdirat(parent, name, mode);
    if (result == 0 && renameat2(AT_FDCWD, "secret", parent, name, RENAME_EXCHANGE) != 0)
        perror("exchange");
    return result;
}

#define mkdirat exchanging_mkdirat
#include "owned_tree.c"

int main(int count, char **arguments) {
    char path[4096];
    struct stat secret;
    if (count != 2 || chdir(arguments[1]) != 0 || chown(".", USER, USER) != 0 || mkdir("secret", 0700) != 0)
        return 2;
    int opened = open("secret", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(path, sizeof(path), "%s/new", arguments[1]);
    lx_make_owned(path, USER, USER, 0700);
    if (opened < 0 || fstat(opened, &secret) != 0)
        return 2;
    if (secret.st_uid != 0) {
        puts("The directory of root belongs to the user.");
        return 1;
    }
    struct stat made;
    if (stat("secret", &made) != 0 || made.st_uid != USER || made.st_gid != USER) {
        puts("The new directory does not belong to the user.");
        return 1;
    }
    return 0;
}
