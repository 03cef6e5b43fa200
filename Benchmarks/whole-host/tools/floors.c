/* SPDX-License-Identifier: Apache-2.0
 *
 * Floors: the part of the work that no implementation can avoid.
 *
 *   bench-floor fork COUNT             a bare fork, _exit and wait, one after the other
 *   bench-floor forks COUNT            the same, two at a time; prints only the total in seconds
 *   bench-floor template LIBRARY COUNT loads a plugin and forks, two at a time; each child calls the plugin;
 *                                      prints only the total in seconds
 *   bench-floor pipe COUNT             wakes a process that sleeps in read(), ten times a second
 *   bench-floor append FILE COUNT      appends 256 bytes and syncs them (fdatasync)
 *   bench-floor sqlite FILE COUNT      inserts one row and syncs it (WAL, synchronous=FULL)
 *   bench-floor watch COUNT            reads an open descriptor COUNT times; prints the mean CPU time in ns
 *
 * The other commands print COUNT samples in nanoseconds, one on each line.
 */
#include <bgtask.h>

#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/wait.h>

#include "stamps.h"

static int fail(const char *what) {
    fprintf(stderr, "bench-floor: %s\n", what);
    return 1;
}

static void complete(bgtask_task *task, int32_t success, const char *message) {
    (void)task, (void)success, (void)message;
}

/* Makes COUNT forks, with as many at a time as peers have workers. Each child calls the plugin, or ends at
 * once. */
static int fork_all(long count, const bgtask_plugin *(*entry)(void)) {
    bgtask_host host = {.abi_version = BGTASK_ABI_VERSION, .struct_size = sizeof host, .complete = complete};
    int64_t start = now();
    long running = 0;
    for (long i = 0; i < count || running > 0;) {
        if (i < count && running < 2) {
            pid_t child = fork();
            if (child < 0)
                return fail("fork failed");
            if (child == 0) {
                if (entry)
                    entry()->run(NULL, &host);
                _exit(0);
            }
            i++, running++;
        } else {
            int status;
            if (wait(&status) < 0 || status != 0)
                return fail("a child failed");
            running--;
        }
    }
    printf("%.6f\n", (double)(now() - start) / 1e9);
    return 0;
}

static int fork_one_by_one(long count) {
    for (; count > 0; count--) {
        int64_t start = now();
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        if (child < 0 || waitpid(child, NULL, 0) != child)
            return fail("fork failed");
        printf("%lld\n", (long long)(now() - start));
    }
    return 0;
}

static int wake_reader(long count) {
    int channel[2];
    if (pipe(channel) != 0)
        return fail("pipe failed");
    pid_t child = fork();
    if (child == 0) {
        int64_t sent;
        close(channel[1]);
        while (read(channel[0], &sent, sizeof sent) == sizeof sent)
            printf("%lld\n", (long long)(now() - sent));
        fflush(stdout);
        _exit(0);
    }
    for (; count > 0; count--) {
        nanosleep(&(struct timespec){0, 100000000}, NULL);
        int64_t time = now();
        if (write(channel[1], &time, sizeof time) != sizeof time)
            return fail("write failed");
    }
    close(channel[1]);
    waitpid(child, NULL, 0);
    return 0;
}

static int append_synced(const char *path, long count) {
    static const char block[256];
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
    if (file < 0)
        return fail(path);
    for (; count > 0; count--) {
        int64_t start = now();
        if (write(file, block, sizeof block) != sizeof block || fdatasync(file) != 0)
            return fail("the file could not be written");
        printf("%lld\n", (long long)(now() - start));
    }
    return 0;
}

static int insert_synced(const char *path, long count) {
    sqlite3 *database;
    sqlite3_stmt *insert;
    char payload[256];
    memset(payload, 'x', sizeof payload);
    if (sqlite3_open(path, &database) != SQLITE_OK ||
        sqlite3_exec(
            database,
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
            "CREATE TABLE IF NOT EXISTS request (id INTEGER PRIMARY KEY, identifier TEXT, body BLOB);"
            "CREATE INDEX IF NOT EXISTS byIdentifier ON request (identifier)",
            NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(database, "INSERT INTO request (identifier, body) VALUES (?, ?)", -1, &insert,
                           NULL) != SQLITE_OK)
        return fail(sqlite3_errmsg(database));
    for (; count > 0; count--) {
        char identifier[64];
        int64_t start = now();
        snprintf(identifier, sizeof identifier, "org.example.bench.run.%ld", count);
        sqlite3_bind_text(insert, 1, identifier, -1, SQLITE_STATIC);
        sqlite3_bind_blob(insert, 2, payload, sizeof payload, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE)
            return fail(sqlite3_errmsg(database));
        sqlite3_reset(insert);
        printf("%lld\n", (long long)(now() - start));
    }
    sqlite3_finalize(insert);
    return sqlite3_close(database) != SQLITE_OK;
}

/* Measures the least cost of a sample of CPU time: one pread of a small kernel file that stays open. */
static int read_kept(long count) {
    char text[512];
    struct timespec before, after;
    int file = open("/proc/self/stat", O_RDONLY);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    for (long i = 0; i < count; i++)
        if (pread(file, text, sizeof text, 0) <= 0)
            return fail("pread failed");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    int64_t used = (int64_t)(after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    printf("%lld\n", (long long)(used / count));
    return 0;
}

int main(int count, char **arguments) {
    const char *what = count > 2 ? arguments[1] : "";
    if (strcmp(what, "fork") == 0)
        return fork_one_by_one(atol(arguments[2]));
    if (strcmp(what, "forks") == 0)
        return fork_all(atol(arguments[2]), NULL);
    if (strcmp(what, "pipe") == 0)
        return wake_reader(atol(arguments[2]));
    if (strcmp(what, "watch") == 0)
        return read_kept(atol(arguments[2]));
    if (count > 3 && strcmp(what, "append") == 0)
        return append_synced(arguments[2], atol(arguments[3]));
    if (count > 3 && strcmp(what, "sqlite") == 0)
        return insert_synced(arguments[2], atol(arguments[3]));
    if (count > 3 && strcmp(what, "template") == 0) {
        void *library = dlopen(arguments[2], RTLD_NOW);
        if (!library)
            return fail(dlerror());
        const bgtask_plugin *(*entry)(void) =
            (const bgtask_plugin *(*)(void))dlsym(library, "bgtask_plugin_entry");
        return entry ? fork_all(atol(arguments[3]), entry) : fail(dlerror());
    }
    return fail("see the head of floors.c");
}
