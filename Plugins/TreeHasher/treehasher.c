/* SPDX-License-Identifier: Apache-2.0
 *
 * TreeHasher: the SHA-256 of every regular file under a directory, as `sha256sum` prints them.
 *
 * Payload: {"directory": PATH, "output": PATH}; without "output" the list goes to hashes.sha256 in the
 * bundle's data directory. The task writes the list to another file and renames it when it is complete, so a
 * reader never sees an incomplete list.
 *
 * Expiration: the task saves its position, even in the middle of a file, and returns without completing. The
 * host then puts the request back, and the next attempt continues from the saved position. The list is the
 * same as without the interruption. The task also saves its position every second, in case it is killed
 * without warning.
 */
#include "checkpoint.h"
#include "payload.h"
#include "tree.h"

#include <bgtask.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The task checks between two reads whether it must stop; hashing 256 KiB takes about a millisecond. */
#define CHUNK (256 * 1024)

struct job {
    bgtask_task *task;
    const bgtask_host *host;
    const char *directory;
    char *output, *partial;
    FILE *list;
    struct tree tree;
    size_t skipped;
    struct position position;
    int64_t next_save; /* CLOCK_MONOTONIC nanoseconds */
};

enum verdict { done, stopped, failed };

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static enum verdict fail(struct job *job, const char *what, const char *path, int code) {
    char text[1024];
    snprintf(text, sizeof text, "%s %s: %s", what, path, strerror(code));
    job->host->complete(job->task, 0, text);
    return failed;
}

static int must_stop(void *context) {
    struct job *job = context;
    return job->host->expired(job->task, NULL);
}

/* Makes the list durable up to the position, then stores the checkpoint. In the other order, a crash could
 * leave a gap in the list. */
static int save(struct job *job) {
    static uint8_t bytes[CHECKPOINT_MAX];
    if (fflush(job->list) != 0 || fdatasync(fileno(job->list)) != 0)
        return errno;
    off_t length = ftello(job->list);
    if (length < 0)
        return errno;
    job->position.output_length = (uint64_t)length;
    job->host->checkpoint(job->task, bytes, checkpoint_encode(&job->position, bytes));
    job->next_save = now() + 1000000000;
    return 0;
}

static void report(struct job *job, const char *message) {
    uint64_t all = job->tree.bytes > job->position.done ? job->tree.bytes : job->position.done;
    job->host->progress(job->task, (int64_t)job->position.done, (int64_t)all, message);
}

/* Opens the list; if the checkpoint has a valid position, at that position. */
static enum verdict open_list(struct job *job) {
    const bgtask_launch *launch = job->host->launch(job->task);
    struct stat status;
    int descriptor = open(job->partial, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0)
        return fail(job, "can't write", job->partial, errno);
    int resumes = checkpoint_decode(launch->checkpoint, launch->checkpoint_length, &job->position) &&
                  fstat(descriptor, &status) == 0 && (uint64_t)status.st_size >= job->position.output_length;
    if (!resumes)
        job->position = (struct position){0};
    if (ftruncate(descriptor, (off_t)job->position.output_length) != 0 ||
        lseek(descriptor, 0, SEEK_END) < 0 || (job->list = fdopen(descriptor, "r+")) == NULL ||
        fseeko(job->list, 0, SEEK_END) != 0) {
        return fail(job, "can't continue", job->partial, errno);
    }
    if (resumes) {
        char text[POSITION_PATH_MAX + 128];
        snprintf(text, sizeof text, "resuming after %llu bytes, at byte %llu of %s",
                 (unsigned long long)job->position.done, (unsigned long long)job->position.offset,
                 job->position.path);
        job->host->log(job->task, BGTASK_LOG_NOTICE, text);
    }
    return done;
}

/* Writes one line like sha256sum, which escapes names with a backslash or line break and marks such a
 * line. */
static int write_line(struct job *job, const char *path, const uint8_t digest[SHA256_DIGEST_SIZE]) {
    if (strpbrk(path, "\\\n\r") != NULL)
        putc('\\', job->list);
    for (int i = 0; i < SHA256_DIGEST_SIZE; i++)
        fprintf(job->list, "%02x", digest[i]);
    fputs("  ", job->list);
    for (const char *c = path; *c; c++) {
        const char *escape = *c == '\\' ? "\\\\" : *c == '\n' ? "\\n" : *c == '\r' ? "\\r" : NULL;
        if (escape != NULL) {
            fputs(escape, job->list);
        } else {
            putc(*c, job->list);
        }
    }
    putc('\n', job->list);
    return ferror(job->list) ? EIO : 0;
}

/* Hashes one file. With `resuming`, it starts where the last attempt stopped, if the file is unchanged. */
static enum verdict hash_file(struct job *job, int root, const char *path, int resuming) {
    static uint8_t buffer[CHUNK];
    struct position *position = &job->position;
    struct stat status;
    int file = openat(root, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0) {
        /* The file has disappeared or cannot be read. A tree that changes is not an error. */
        job->skipped++;
        if (file >= 0)
            close(file);
        return done;
    }
    int64_t modified = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
    if (resuming &&
        (position->file_size != (uint64_t)status.st_size || position->file_modified != modified)) {
        position->done -= position->offset;
        resuming = 0;
    }
    if (!resuming) {
        position->offset = 0;
        position->file_size = (uint64_t)status.st_size;
        position->file_modified = modified;
        sha256_begin(&position->hash);
        snprintf(position->path, sizeof position->path, "%s", path);
    }
    for (;;) {
        if (must_stop(job)) {
            close(file);
            return stopped;
        }
        ssize_t count = pread(file, buffer, sizeof buffer, (off_t)position->offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            int code = errno;
            close(file);
            return fail(job, "can't read", path, code);
        }
        if (count == 0)
            break;
        sha256_update(&position->hash, buffer, (size_t)count);
        position->offset += (uint64_t)count;
        position->done += (uint64_t)count;
        /* The file has grown during the read: its size is the number of bytes read so far. */
        if (position->offset > position->file_size)
            position->file_size = position->offset;
        report(job, path);
        if (now() >= job->next_save) {
            int code = save(job);
            if (code != 0) {
                close(file);
                return fail(job, "can't write", job->partial, code);
            }
        }
    }
    close(file);
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256 hash = position->hash;
    sha256_end(&hash, digest);
    int code = write_line(job, path, digest);
    return code == 0 ? done : fail(job, "can't write", job->partial, code);
}

static enum verdict hash_tree(struct job *job, int root) {
    char reached[POSITION_PATH_MAX + 1];
    memcpy(reached, job->position.path, sizeof reached);
    for (size_t i = 0; i < job->tree.count; i++) {
        const char *path = job->tree.paths[i];
        int order = strcmp(path, reached);
        if (order < 0)
            continue;
        enum verdict verdict = hash_file(job, root, path, order == 0);
        if (verdict != done)
            return verdict;
    }
    return done;
}

static enum verdict publish(struct job *job) {
    if (fflush(job->list) != 0 || fsync(fileno(job->list)) != 0)
        return fail(job, "can't write", job->partial, errno);
    if (rename(job->partial, job->output) != 0)
        return fail(job, "can't rename to", job->output, errno);
    char text[512];
    snprintf(text, sizeof text, "%zu files, %llu bytes, %zu skipped", job->tree.count,
             (unsigned long long)job->position.done, job->skipped);
    report(job, text);
    job->host->complete(job->task, 1, text);
    return done;
}

static enum verdict work(struct job *job) {
    int code = tree_list(job->directory, &job->tree, &job->skipped, must_stop, job);
    if (code == ECANCELED)
        return stopped;
    if (code != 0)
        return fail(job, "can't list", job->directory, code);
    report(job, "listed");
    enum verdict verdict = open_list(job);
    if (verdict != done)
        return verdict;
    int root = open(job->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return fail(job, "can't open", job->directory, errno);
    verdict = hash_tree(job, root);
    if (verdict == done)
        return publish(job);
    if (verdict == stopped) {
        code = save(job);
        if (code != 0)
            return fail(job, "can't write", job->partial, code);
    }
    return verdict;
}

static void run(bgtask_task *task, const bgtask_host *host) {
    static struct job job;
    const bgtask_launch *launch = host->launch(task);
    job.task = task;
    job.host = host;
    /* The call gives this handler a grace period. The handler does not use the descriptor: its loops call
     * `expired`. */
    (void)host->expiration_descriptor(task);
    char *directory = payload_string(launch->payload, launch->payload_length, "directory");
    job.directory = directory;
    job.output = payload_string(launch->payload, launch->payload_length, "output");
    if (directory == NULL) {
        host->complete(task, 0, "the payload names no directory: {\"directory\": \"/path\"}");
        return;
    }
    if (job.output == NULL && asprintf(&job.output, "%s/hashes.sha256", launch->data_directory) < 0)
        return;
    if (asprintf(&job.partial, "%s.partial", job.output) < 0)
        return;
    if (work(&job) == stopped) {
        host->log(task, BGTASK_LOG_NOTICE, "the host asked it to stop; a checkpoint is saved");
    }
}

static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof plugin, run};

const bgtask_plugin *bgtask_plugin_entry(void) {
    return &plugin;
}
