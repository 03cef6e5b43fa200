#include "sync.h"
#include "partial.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* One of them finishes small files together; the others make records and finish large files. */
#define THREADS 4
/* From this many small files on, one sync of the file system is cheaper than one for each. */
#define BATCH_MIN 4
#define BATCH_MAX 64
/* A sync of the file system also writes what others have changed. If it took longer than this, in ms, each
 * file is synced alone for a minute. */
#define SLOW_SYNC 1000
#define SLOW_PAUSE 60000

struct job {
    struct job *next;
    struct job *next_known; // of all jobs whose results were not taken
    bool is_forbidden;
    struct transfer *transfer;
    enum sync_kind kind;
    struct partial partial; // a copy, because the transfer goes on
    int64_t size;
    int code;
};

struct list {
    struct job *first, **end;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER;
static struct job *known;
static struct list waiting = {NULL, &waiting.first}, small = {NULL, &small.first}, done = {NULL, &done.first};
static struct job *added;   // of one pass of the loop, newest first; only the main thread uses it
static struct list results; // taken from `done` together; only the main thread uses it
static bool is_batching;    // a thread works on small files
static void (*wake_main)(void);

static void append(struct list *list, struct job *job) {
    job->next = NULL;
    *list->end = job;
    list->end = &job->next;
}

static struct job *take_first(struct list *list) {
    struct job *job = list->first;
    if (job != NULL && (list->first = job->next) == NULL)
        list->end = &list->first;
    return job;
}

/* Makes all these files durable by one sync of their file system; false if each needs its own. */
static bool sync_together(const struct partial *partial) {
    static int64_t next_time; // only one thread at a time comes here
    int64_t begin = now_milliseconds();
    // An error may be that of another file, so each one is asked for its own.
    if (begin < next_time || syncfs(partial->root) != 0)
        return false;
    int64_t end = now_milliseconds();
    if (end - begin > SLOW_SYNC)
        next_time = end + SLOW_PAUSE;
    return true;
}

/* Finishes the small files that wait. Those that come meanwhile share the next sync. Called with the
 * mutex. */
static void finish_small(void) {
    struct job *batch[BATCH_MAX];
    int count = 0;
    is_batching = true;
    while (count < BATCH_MAX && (batch[count] = take_first(&small)) != NULL)
        count++;
    pthread_mutex_unlock(&mutex);
    bool is_synced = count >= BATCH_MIN && sync_together(&batch[0]->partial);
    for (int i = 0; i < count; i++) {
        errno = 0;
        bool is_done = is_synced ? partial_name(&batch[i]->partial) : partial_finish(&batch[i]->partial);
        batch[i]->code = is_done ? 0 : errno != 0 ? errno : EIO;
    }
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < count; i++)
        append(&done, batch[i]);
    is_batching = false;
    wake_main();
}

static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    for (;;) {
        if (small.first != NULL && !is_batching) {
            finish_small();
            continue;
        }
        struct job *job = take_first(&waiting);
        if (job == NULL) {
            pthread_cond_wait(&has_work, &mutex);
            continue;
        }
        pthread_mutex_unlock(&mutex);
        errno = 0;
        bool is_done = job->kind == SYNC_FINISH ? partial_finish(&job->partial)
                                                : partial_prepare_record(&job->partial, job->size);
        pthread_mutex_lock(&mutex);
        // The rename is quick, and nothing can be discarded during it.
        if (is_done && job->kind == SYNC_RECORD && !job->is_forbidden)
            is_done = partial_publish_record(&job->partial);
        job->code = is_done ? 0 : errno != 0 ? errno : EIO;
        append(&done, job);
        wake_main();
    }
}

bool sync_start(void (*wake)(void)) {
    wake_main = wake;
    int started = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL) == 0) {
            pthread_detach(thread);
            started++;
        }
    }
    return started > 0;
}

bool sync_add(struct transfer *transfer, enum sync_kind kind) {
    struct job *job = malloc(sizeof(*job));
    if (job == NULL)
        return false;
    *job = (struct job){
        .transfer = transfer, .kind = kind, .partial = transfer->partial, .size = transfer->partial.size};
    transfer->is_syncing = true;
    job->next = added;
    added = job;
    return true;
}

void sync_submit(void) {
    if (added == NULL)
        return;
    struct job *oldest = NULL;
    for (struct job *job = added, *next; job != NULL; job = next) {
        next = job->next;
        job->next = oldest;
        oldest = job;
    }
    added = NULL;
    int wanted = 0;
    pthread_mutex_lock(&mutex);
    bool has_small = small.first != NULL;
    for (struct job *job = oldest, *next; job != NULL; job = next) {
        next = job->next;
        job->next_known = known;
        known = job;
        bool is_small = job->kind == SYNC_FINISH && partial_is_plain(&job->partial);
        append(is_small ? &small : &waiting, job);
        // One thread takes all small files; if it is at work, it looks for more afterwards.
        wanted += !is_small || (!has_small && !is_batching);
        has_small |= is_small;
    }
    pthread_mutex_unlock(&mutex);
    for (; wanted > 0; wanted--)
        pthread_cond_signal(&has_work);
}

/* Takes all results, so that the threads are rarely disturbed. */
static void take_results(void) {
    pthread_mutex_lock(&mutex);
    results = done;
    done = (struct list){NULL, &done.first};
    for (struct job *job = results.first; job != NULL; job = job->next)
        for (struct job **at = &known; *at != NULL; at = &(*at)->next_known)
            if (*at == job) {
                *at = job->next_known;
                break;
            }
    pthread_mutex_unlock(&mutex);
}

bool sync_take(struct sync_result *result) {
    if (results.first == NULL)
        take_results();
    struct job *job = results.first;
    if (job == NULL)
        return false;
    results.first = job->next;
    *result = (struct sync_result){job->transfer, job->kind, job->code, job->partial.has_lost_bytes};
    job->transfer->is_syncing = false;
    free(job);
    return true;
}

void sync_forbid(const struct transfer *transfer) {
    for (struct job *job = added; job != NULL; job = job->next)
        if (job->transfer == transfer)
            job->is_forbidden = true;
    pthread_mutex_lock(&mutex);
    for (struct job *job = known; job != NULL; job = job->next_known)
        if (job->transfer == transfer)
            job->is_forbidden = true;
    pthread_mutex_unlock(&mutex);
}
