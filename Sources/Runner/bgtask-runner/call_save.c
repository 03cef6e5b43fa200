/* SPDX-License-Identifier: Apache-2.0 */
/* Saves a file of a call program completely or not at all. If the process is killed, a temporary file may
 * remain, but only until the next save to the same path.
 *
 * The bytes are written to a file without a name (O_TMPFILE), which disappears with the process. The
 * finished file first gets a temporary name, `.NAME.bgtask.XXXXXX`, and is then renamed to its own name.
 * If the file system does not support O_TMPFILE, the file has the temporary name from the start. The
 * process that writes the file holds a lock on it, so that the next save can recognize the file of a
 * killed process. */
#include "call_program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUFFIX_LENGTH = 6, PREFIX_MAX = NAME_MAX + 1 - SUFFIX_LENGTH, ATTEMPTS = 100 };

/* The directory and name of a file, and the prefix of its temporary names. */
struct place {
    int directory;
    const char *name;
    char prefix[PREFIX_MAX]; /* `.NAME.bgtask.`, or the beginning of a long name */
};

static void temporary_name(const struct place *place, char name[static NAME_MAX + 1]) {
    uint32_t number = 0;
    /* Without random numbers, names may collide; the next attempt then uses another number. */
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) < 0)
        number = (uint32_t)getpid();
    snprintf(name, NAME_MAX + 1, "%s%06x", place->prefix, number & 0xFFFFFF);
}

/* Removes the temporary files of killed saves: those with this prefix that are not locked. */
static void sweep(const struct place *place) {
    int copy = openat(place->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = copy < 0 ? NULL : fdopendir(copy);
    if (entries == NULL) {
        if (copy >= 0)
            close(copy);
        return; /* the directory can be written but not read, so its files cannot be found */
    }
    size_t length = strlen(place->prefix);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (strncmp(entry->d_name, place->prefix, length) != 0 ||
            strlen(entry->d_name) != length + SUFFIX_LENGTH)
            continue;
        int file = openat(place->directory, entry->d_name,
                          O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        struct stat status;
        if (file < 0)
            continue;
        if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && flock(file, LOCK_EX | LOCK_NB) == 0)
            unlinkat(place->directory, entry->d_name, 0);
        close(file);
    }
    closedir(entries);
}

/* Opens an unnamed file. Returns -1 if this is not possible, or if the file could not be named later. */
static int open_nameless(const struct place *place) {
    int file = openat(place->directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0)
        return -1;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && access(link, F_OK) == 0)
        return file;
    close(file);
    return -1;
}

/* Opens a file with a temporary name. Returns -1 and sets errno on failure. */
static int open_named(const struct place *place, char name[static NAME_MAX + 1]) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        temporary_name(place, name);
        int file = openat(place->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 && errno == EEXIST)
            continue;
        if (file < 0)
            return -1;
        /* Another save may have removed the file before it was locked, because it looked like the file of a
         * killed save. A file system without locks gives other errors; there, no save removes files. */
        struct stat status;
        bool is_lost = flock(file, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
        if (!is_lost && fstat(file, &status) == 0 && status.st_nlink > 0)
            return file;
        close(file);
    }
    errno = EEXIST;
    return -1;
}

/* Gives an unnamed file a temporary name. Returns 0, or an error number. */
static int give_name(const struct place *place, int file, char name[static NAME_MAX + 1]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        temporary_name(place, name);
        if (linkat(AT_FDCWD, link, place->directory, name, AT_SYMLINK_FOLLOW) == 0)
            return 0;
        if (errno != EEXIST)
            return errno;
    }
    return EEXIST;
}

static int write_all(int file, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = write(file, bytes, length);
        if (count < 0) {
            if (errno == EINTR)
                continue;
            return errno;
        }
        bytes += count;
        length -= (size_t)count;
    }
    return fsync(file) < 0 ? errno : 0;
}

static int save(const struct place *place, const void *bytes, size_t length) {
    char temporary[NAME_MAX + 1] = "";
    struct stat old;
    bool is_old = fstatat(place->directory, place->name, &old, 0) == 0;
    sweep(place);
    int file = open_nameless(place);
    bool is_nameless = file >= 0;
    if (!is_nameless)
        file = open_named(place, temporary);
    if (file < 0)
        return errno;
    /* A file that is replaced keeps its permissions; a new one gets those that the umask allows. */
    mode_t mask = umask(0);
    umask(mask);
    int code = fchmod(file, is_old ? old.st_mode & 0777 : 0666 & ~mask) < 0 ? errno : 0;
    if (code == 0)
        code = write_all(file, bytes, length);
    if (code == 0 && is_nameless)
        code = give_name(place, file, temporary);
    if (code == 0 && renameat(place->directory, temporary, place->directory, place->name) < 0)
        code = errno;
    if (code != 0 && temporary[0] != 0)
        unlinkat(place->directory, temporary, 0);
    if (close(file) < 0 && code == 0)
        code = errno;
    /* The rename is durable only after the directory was synced. */
    return code == 0 && fsync(place->directory) < 0 ? errno : code;
}

int call_save(const char *path, const void *bytes, size_t length) {
    const char *slash = strrchr(path, '/');
    char directory[PATH_MAX] = ".";
    if (slash != NULL) {
        size_t directory_length = (size_t)(slash - path) + 1;
        if (directory_length >= sizeof directory)
            return ENAMETOOLONG;
        memcpy(directory, path, directory_length);
        directory[directory_length] = 0;
    }
    struct place place = {.name = slash != NULL ? slash + 1 : path};
    static const char mark[] = ".bgtask.";
    snprintf(place.prefix, sizeof place.prefix, ".%.*s%s", (int)(PREFIX_MAX - sizeof mark - 1), place.name,
             mark);
    place.directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place.directory < 0)
        return errno;
    int code = save(&place, bytes, length);
    close(place.directory);
    return code;
}
