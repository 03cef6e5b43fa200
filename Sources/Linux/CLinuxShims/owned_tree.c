/* SPDX-License-Identifier: Apache-2.0 */
/* Makes directories for another user, and gives a tree to one. That user may own directories on the way and
 * change them meanwhile, so every step names an entry of an open directory, and no link is followed. */
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PLACE = O_PATH | O_NOFOLLOW | O_CLOEXEC };

/* Closes a descriptor, keeps errno, and returns -1. */
static int fail(int file) {
    int code = errno;
    close(file);
    errno = code;
    return -1;
}

/* The capabilities of the calling thread. */
struct capabilities {
    struct __user_cap_header_struct header;
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
};

/* Lets the calling thread write to directories of others, as far as it may, which setfsuid has ended. */
static void override_permissions(struct capabilities now) {
    now.sets[0].effective |= now.sets[0].permitted & CAP_TO_MASK(CAP_DAC_OVERRIDE);
    syscall(SYS_capset, &now.header, now.sets);
}

int lx_make_owned_at(int parent, const char *name, uint32_t owner, uint32_t group, unsigned mode) {
    uid_t user = geteuid();
    gid_t own_group = getegid();
    struct capabilities before = {.header = {.version = _LINUX_CAPABILITY_VERSION_3}};
    if ((owner == user && group == own_group) || syscall(SYS_capget, &before.header, before.sets) != 0)
        return mkdirat(parent, name, mode);
    // The kernel makes the directory for the user whom this thread has for files. It belongs to its owner
    // from the start: if it were given away later, the owner of the parent could have put one of root's in
    // its place.
    setfsgid(group);
    setfsuid(owner);
    override_permissions(before);
    int result = mkdirat(parent, name, mode), code = errno;
    setfsuid(user);
    setfsgid(own_group);
    syscall(SYS_capset, &before.header, before.sets);
    errno = code;
    return result;
}

int lx_make_owned(const char *path, uint32_t owner, uint32_t group, unsigned mode) {
    int place = open("/", PLACE | O_DIRECTORY);
    while (place >= 0) {
        char name[NAME_MAX + 1];
        path += strspn(path, "/");
        size_t length = strcspn(path, "/");
        if (length == 0) {
            close(place);
            return 0;
        }
        if (length > NAME_MAX) {
            errno = ENAMETOOLONG;
            return fail(place);
        }
        memcpy(name, path, length);
        name[length] = 0;
        path += length;
        int next = openat(place, name, PLACE | O_DIRECTORY);
        if (next < 0 && errno == ENOENT) {
            if (lx_make_owned_at(place, name, owner, group, mode) != 0 && errno != EEXIST)
                return fail(place);
            next = openat(place, name, PLACE | O_DIRECTORY);
        }
        if (next < 0)
            return fail(place);
        close(place);
        place = next;
    }
    return -1;
}

/* The users whose files get another owner. */
struct giving {
    uint32_t owner, low, high;
    dev_t device; /* Other file systems are not entered. */
};

/* The deepest tree that is given. Each level takes a descriptor. */
enum { DEPTH_MAX = 200 };

static int give_entries(int directory, const struct giving *giving, int depth);

/* Gives one open entry and, if it is a directory, what it contains. */
static int give_entry(int place, const struct giving *giving, int depth) {
    struct stat status;
    if (fstat(place, &status) != 0)
        return -1;
    if (S_ISDIR(status.st_mode)) {
        if (status.st_dev != giving->device)
            return 0;
        int directory = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (directory < 0 || give_entries(directory, giving, depth) != 0) // closes it
            return -1;
    } else if (status.st_nlink > 1) {
        return 0; // its other name can be anywhere, and the file of another program
    }
    bool is_known =
        status.st_uid == geteuid() || (status.st_uid >= giving->low && status.st_uid <= giving->high);
    return is_known ? fchownat(place, "", giving->owner, giving->owner, AT_EMPTY_PATH) : 0;
}

/* Gives the entries of a directory, and closes it. */
static int give_entries(int directory, const struct giving *giving, int depth) {
    if (depth > DEPTH_MAX) {
        errno = ELOOP;
        return fail(directory);
    }
    DIR *entries = fdopendir(directory);
    if (entries == NULL)
        return fail(directory);
    int result = 0;
    while (result == 0) {
        errno = 0;
        struct dirent *entry = readdir(entries);
        if (entry == NULL) {
            result = errno == 0 ? 0 : -1;
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int place = openat(directory, entry->d_name, PLACE);
        result = place >= 0 ? give_entry(place, giving, depth + 1) : errno == ENOENT ? 0 : -1;
        if (place >= 0)
            fail(place);
    }
    int code = errno;
    closedir(entries);
    errno = code;
    return result;
}

int lx_give_tree(const char *path, uint32_t owner, uint32_t low, uint32_t high) {
    struct stat status;
    int place = open(path, PLACE | O_DIRECTORY);
    if (place < 0 || fstat(place, &status) != 0)
        return place < 0 ? -1 : fail(place);
    struct giving giving = {owner, low, high, status.st_dev};
    // The top gets its owner last, so that a caller who was interrupted finds the old one.
    int result = give_entry(place, &giving, 0);
    fail(place);
    return result;
}
