#include "partial.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Downloads leave this much of the disk, or a twentieth of a small one, to the host and to others, in
 * bytes. */
#define RESERVE (64 << 20)
/* The largest file that is made durable together with others, in bytes. */
#define SMALL_FILE (1 << 20)
/* After how many bytes the free space is looked up again, or which part of it: as many downloads can run. */
#define ROOM_CHECK_STEP (1 << 20)
#define SHARE 24

static char boot[64];

/* The name of one of the transfer's files. */
struct name {
    char text[40];
};

static struct name name_of(const struct partial *partial, const char *kind) {
    struct name name;
    snprintf(name.text, sizeof(name.text), "%" PRIu64 ".%s", partial->id, kind);
    return name;
}

static bool rename_to(const struct partial *partial, const char *from, const char *to) {
    return renameat(partial->root, name_of(partial, from).text, partial->root, name_of(partial, to).text) ==
           0;
}

void partial_learn_boot(void) {
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, boot, sizeof(boot) - 1);
    if (file >= 0)
        close(file);
    boot[length > 0 ? length : 0] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
}

/* MARK: The record */

static bool write_all(int file, const char *text, size_t length) {
    while (length > 0) {
        ssize_t written = write(file, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        text += written;
        length -= (size_t)written;
    }
    return true;
}

/* Closes a file without changing errno. */
static void close_quietly(int file) {
    int code = errno;
    close(file);
    errno = code;
}

/* Writes a new record that says how many bytes are durable; does not wait for the disk. Returns its file, or
 * -1 with errno set. */
static int write_record(const struct partial *partial, int64_t durable) {
    char text[VALIDATOR_MAX + 512];
    int length =
        snprintf(text, sizeof(text),
                 "bgtask-transfer 1\nboot %s\nsynced %" PRId64 "\ntotal %" PRId64 "\netag %s\nmodified %s\n",
                 boot, durable, partial->total, partial->etag, partial->modified);
    int file = openat(partial->root, name_of(partial, "resume.new").text,
                      O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0 && !write_all(file, text, (size_t)length)) {
        close_quietly(file);
        return -1;
    }
    return file;
}

bool partial_prepare_record(struct partial *partial, int64_t size) {
    if (fdatasync(partial->file) != 0) {
        partial->has_lost_bytes = true;
        return false;
    }
    int file = write_record(partial, size);
    if (file < 0)
        return false;
    bool done = fdatasync(file) == 0;
    close_quietly(file);
    return done;
}

bool partial_publish_record(const struct partial *partial) {
    return rename_to(partial, "resume.new", "resume");
}

/* Finds the value of a line; false if the line is missing. */
static bool read_line(const char *text, const char *name, char *value, size_t size) {
    size_t length = strlen(name);
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        if (end == NULL)
            return false;
        if (strncmp(line, name, length) == 0 && line[length] == ' ' &&
            (size_t)(end - line) - length - 1 < size) {
            size_t count = (size_t)(end - line) - length - 1;
            memcpy(value, line + length + 1, count);
            value[count] = '\0';
            return true;
        }
        line = end + 1;
    }
    return false;
}

/* Reads the record; returns how many bytes of the unfinished file are certain. */
static int64_t read_record(struct partial *partial, int64_t size) {
    char text[VALIDATOR_MAX + 512], number[32], recorded_boot[64];
    int file = openat(partial->root, name_of(partial, "resume").text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t length = read(file, text, sizeof(text) - 1);
    close(file);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    if (strncmp(text, "bgtask-transfer 1\n", 18) != 0 ||
        !read_line(text, "boot", recorded_boot, sizeof(recorded_boot)) ||
        !read_line(text, "etag", partial->etag, sizeof(partial->etag)) ||
        !read_line(text, "modified", partial->modified, sizeof(partial->modified)) ||
        !read_line(text, "total", number, sizeof(number)))
        return 0;
    partial->total = strtoll(number, NULL, 10);
    if (!read_line(text, "synced", number, sizeof(number)))
        return 0;
    partial->has_record = true;
    int64_t synced = strtoll(number, NULL, 10);
    bool is_same_boot = boot[0] != '\0' && strcmp(boot, recorded_boot) == 0;
    return is_same_boot || synced > size ? size : synced;
}

/* MARK: The file */

bool partial_open(struct partial *partial, int root, uint64_t id, int64_t *finished) {
    partial->root = root;
    partial->id = id;
    struct stat status;
    if (fstatat(root, name_of(partial, "data").text, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        *finished = status.st_size;
        return true;
    }
    partial->file =
        openat(root, name_of(partial, "part").text, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (partial->file < 0 || fstat(partial->file, &status) != 0)
        return false;
    if (status.st_size == 0)
        return true;
    int64_t certain = read_record(partial, status.st_size);
    bool is_resumable = certain > 0 && (partial->etag[0] != '\0' || partial->modified[0] != '\0') &&
                        (partial->total < 0 || certain <= partial->total);
    if (!is_resumable)
        return partial_discard(partial);
    partial->size = partial->recorded = certain;
    return ftruncate(partial->file, certain) == 0 && lseek(partial->file, certain, SEEK_SET) == certain;
}

bool partial_create(struct partial *partial, int root, uint64_t id) {
    partial->root = root;
    partial->id = id;
    if (unlinkat(root, name_of(partial, "data").text, 0) != 0 && errno != ENOENT)
        return false;
    partial->file = openat(root, name_of(partial, "part").text,
                           O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    return partial->file >= 0;
}

void partial_close(struct partial *partial) {
    if (partial->file >= 0)
        close(partial->file);
    partial->file = -1;
    partial->size = partial->checked = 0;
}

bool partial_is_complete(const struct partial *partial) {
    return partial->size > 0 && partial->size == partial->total;
}

bool partial_can_resume(const struct partial *partial) {
    return partial->size > 0 && (partial->etag[0] != '\0' || partial->modified[0] != '\0');
}

bool partial_discard(struct partial *partial) {
    // The record goes first, and durably, because it must never describe other bytes.
    if (unlinkat(partial->root, name_of(partial, "resume").text, 0) == 0) {
        if (fsync(partial->root) != 0)
            return false;
    } else if (errno != ENOENT) {
        return false;
    }
    partial->size = partial->recorded = partial->checked = 0;
    partial->total = -1;
    partial->etag[0] = partial->modified[0] = '\0';
    partial->has_record = false;
    return ftruncate(partial->file, 0) == 0 && lseek(partial->file, 0, SEEK_SET) == 0;
}

void partial_leave(struct partial *partial) {
    if (partial->file < 0 || partial->has_record)
        return;
    if (!partial_can_resume(partial)) {
        partial_discard(partial);
        return;
    }
    // In the same boot, the file is right as far as it is long.
    int file = write_record(partial, 0);
    if (file >= 0) {
        close(file);
        partial_publish_record(partial);
    }
}

/* Whether the file system keeps its reserve, so that the host can still store. */
static bool has_room(struct partial *partial) {
    struct statvfs room;
    if (partial->size < partial->checked || fstatvfs(partial->file, &room) != 0)
        return true;
    int64_t reserve = (int64_t)((uint64_t)room.f_blocks * room.f_frsize / 20);
    int64_t left =
        (int64_t)((uint64_t)room.f_bavail * room.f_frsize) - (reserve < RESERVE ? reserve : RESERVE);
    if (left >= 0) {
        // Other downloads take their parts of what is left meanwhile.
        partial->checked = partial->size + (left / SHARE < ROOM_CHECK_STEP ? left / SHARE : ROOM_CHECK_STEP);
        return true;
    }
    errno = ENOSPC;
    return false;
}

bool partial_append(struct partial *partial, const void *bytes, size_t length) {
    const char *at = bytes;
    if (!has_room(partial))
        return false;
    while (length > 0) {
        ssize_t written = write(partial->file, at, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        partial->size += written;
        at += written;
        length -= (size_t)written;
    }
    return true;
}

bool partial_is_plain(const struct partial *partial) {
    return partial->file >= 0 && !partial->has_record && !partial->is_kept && partial->size <= SMALL_FILE;
}

bool partial_name(const struct partial *partial) {
    return rename_to(partial, "part", "data");
}

bool partial_finish(struct partial *partial) {
    bool is_named = partial->file < 0;
    if (!is_named && fsync(partial->file) != 0) {
        partial->has_lost_bytes = true;
        return false;
    }
    if (!is_named && !partial_name(partial))
        return false;
    if (partial->has_record && unlinkat(partial->root, name_of(partial, "resume").text, 0) != 0 &&
        errno != ENOENT)
        return false;
    // The host makes the name in another place durable. After a crash before that, the file is `N.part`
    // again.
    return !partial->is_kept || fsync(partial->root) == 0;
}
