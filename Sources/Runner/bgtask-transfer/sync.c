#include "sync.h"
#include "partial.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* As many as finish small files in one commit of a journal; more bring nothing. */
#define THREADS 4

struct job {
    struct job *next;
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
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER, has_result = PTHREAD_COND_INITIALIZER;
static struct list waiting = {NULL, &waiting.first}, done = {NULL, &done.first};
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

static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    for (;;) {
        struct job *job = take_first(&waiting);
        if (job == NULL) {
            pthread_cond_wait(&has_work, &mutex);
            continue;
        }
        pthread_mutex_unlock(&mutex);
        errno = 0;
        bool is_done = job->kind == SYNC_FINISH ? partial_finish(&job->partial)
                                                : partial_record(&job->partial, job->size);
        job->code = is_done ? 0 : errno != 0 ? errno : EIO;
        pthread_mutex_lock(&mutex);
        append(&done, job);
        pthread_cond_broadcast(&has_result);
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
    pthread_mutex_lock(&mutex);
    append(&waiting, job);
    pthread_cond_signal(&has_work);
    pthread_mutex_unlock(&mutex);
    return true;
}

bool sync_take(struct sync_result *result) {
    pthread_mutex_lock(&mutex);
    struct job *job = take_first(&done);
    pthread_mutex_unlock(&mutex);
    if (job == NULL)
        return false;
    *result = (struct sync_result){job->transfer, job->kind, job->code};
    job->transfer->is_syncing = false;
    free(job);
    return true;
}

/* Removes the result of a transfer's work; false if there is none. */
static bool drop_result(const struct transfer *transfer) {
    for (struct job **at = &done.first; *at != NULL; at = &(*at)->next) {
        struct job *job = *at;
        if (job->transfer != transfer)
            continue;
        *at = job->next;
        if (done.end == &job->next)
            done.end = at;
        job->transfer->is_syncing = false;
        free(job);
        return true;
    }
    return false;
}

void sync_settle(const struct transfer *transfer) {
    if (!transfer->is_syncing)
        return;
    pthread_mutex_lock(&mutex);
    while (!drop_result(transfer))
        pthread_cond_wait(&has_result, &mutex);
    pthread_mutex_unlock(&mutex);
}
