#include "report.h"
#include "process.h"
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_INTERVAL_NANOSECONDS 50000000
#define CONTROL_PATIENCE_NANOSECONDS 2000000000
#define CRASH_PATIENCE_NANOSECONDS 500000000
#define PROGRESS_MESSAGE_MAX 1024

/* The pipe; `pipe_lock` guards these variables. */
static pthread_mutex_t pipe_lock = PTHREAD_MUTEX_INITIALIZER;
static int pipe_descriptor = -1;
static uint16_t sequence;
static bool broken;
static struct frame_writer writer;

/* The newest progress; `progress_lock` guards it. It is locked after `pipe_lock`, or alone. */
static pthread_mutex_t progress_lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t completed_units, total_units, last_sent;
/* 4 more bytes and a NUL, so that frame_add_text sees a character that crosses the limit completely. */
static char progress_message[PROGRESS_MESSAGE_MAX + 4 + 1];
static bool has_progress, has_message;

static pthread_t control_thread;
static atomic_bool has_control_thread;
/* The thread that has crashed, if there is one. */
static pthread_t hurried_thread;
static atomic_bool has_hurried_thread;

void report_start(int descriptor) {
    pipe_descriptor = descriptor;
    // This affects only this end; the host's end is a different open file description.
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

void report_set_control_thread(pthread_t thread) {
    control_thread = thread;
    has_control_thread = true;
}

bool report_is_control_thread(void) {
    return has_control_thread && pthread_equal(pthread_self(), control_thread);
}

void report_hurry(void) {
    hurried_thread = pthread_self();
    has_hurried_thread = true;
}

static bool is_hurried(void) {
    return has_hurried_thread && pthread_equal(pthread_self(), hurried_thread);
}

/* How long the calling thread waits for the pipe, in nanoseconds; -1 means without a limit. */
static int64_t patience(void) {
    if (is_hurried())
        return CRASH_PATIENCE_NANOSECONDS;
    return report_is_control_thread() ? CONTROL_PATIENCE_NANOSECONDS : -1;
}

/* MARK: One frame */

/* Writes all bytes of a frame, and waits while the host reads, but no longer than the thread's patience for
 * each part. */
static bool write_all(const uint8_t *bytes, size_t length) {
    int64_t time = patience();
    int64_t deadline = time < 0 ? INT64_MAX : now_nanoseconds() + time;
    size_t written = 0;
    while (written < length && !broken) {
        ssize_t count = write(pipe_descriptor, bytes + written, length - written);
        if (count >= 0) {
            written += (size_t)count;
            deadline = time < 0 ? INT64_MAX : now_nanoseconds() + time;
        } else if (errno == EAGAIN) {
            int64_t left = deadline == INT64_MAX ? -1 : (deadline - now_nanoseconds()) / 1000000;
            if (deadline != INT64_MAX && left <= 0 && is_hurried())
                broken = true; // the process ends by its signal
            else if (deadline != INT64_MAX && left <= 0)
                // The host does not read. The part that was written cannot be taken back, and the control
                // thread must not hang.
                _exit(EXIT_PROTOCOL_ERROR);
            else
                poll(&(struct pollfd){.fd = pipe_descriptor, .events = POLLOUT}, 1, (int)left);
        } else if (errno != EINTR) {
            broken = true; // EPIPE: the host has gone, or has ended this launch
        }
    }
    return written == length;
}

struct frame_writer *report_begin(uint8_t kind) {
    int64_t time = patience();
    if (time >= 0) {
        int64_t end = now_nanoseconds() + time;
        struct timespec until = {end / 1000000000, end % 1000000000};
        if (pthread_mutex_clocklock(&pipe_lock, CLOCK_MONOTONIC, &until) != 0)
            return NULL;
    } else {
        pthread_mutex_lock(&pipe_lock);
    }
    frame_begin(&writer, kind);
    return &writer;
}

bool report_end(struct frame_writer *frame) {
    bool sent = frame_end(frame, &sequence) && write_all(frame->bytes, frame->length);
    pthread_mutex_unlock(&pipe_lock);
    return sent;
}

/* MARK: Progress */

/* Encodes the newest progress and marks it as sent. The caller holds both locks. */
static void take_progress(void) {
    frame_begin(&writer, MESSAGE_PROGRESS);
    frame_add_number(&writer, 1, (uint64_t)completed_units);
    frame_add_number(&writer, 2, (uint64_t)total_units);
    if (has_message)
        frame_add_text(&writer, 3, progress_message, PROGRESS_MESSAGE_MAX);
    has_progress = has_message = false;
    last_sent = now_nanoseconds();
}

/* Sends the newest progress if the pipe is not locked and has space. This never waits. A frame is shorter
 * than PIPE_BUF, so it is written completely or not at all. */
static void try_progress(void) {
    if (pthread_mutex_trylock(&pipe_lock) != 0)
        return;
    pthread_mutex_lock(&progress_lock);
    if (has_progress && !broken) {
        bool had_message = has_message;
        take_progress();
        frame_end(&writer, &sequence);
        if (write(pipe_descriptor, writer.bytes, writer.length) < 0) {
            broken = errno != EAGAIN && errno != EINTR;
            has_progress = true;
            has_message = had_message;
            sequence--;
        }
    }
    pthread_mutex_unlock(&progress_lock);
    pthread_mutex_unlock(&pipe_lock);
}

static int64_t due_time(void) {
    return last_sent + PROGRESS_INTERVAL_NANOSECONDS;
}

bool report_progress(int64_t completed, int64_t total, const char *message) {
    pthread_mutex_lock(&progress_lock);
    bool was_due = has_progress, goes_now = now_nanoseconds() >= due_time();
    completed_units = completed;
    total_units = total;
    has_progress = true;
    if (message != NULL) {
        strncpy(progress_message, message, sizeof(progress_message) - 1);
        has_message = true;
    }
    pthread_mutex_unlock(&progress_lock);
    if (goes_now)
        try_progress();
    if (was_due)
        return false; // the caller was already asked to call report_flush_due
    pthread_mutex_lock(&progress_lock);
    bool is_due = has_progress;
    pthread_mutex_unlock(&progress_lock);
    return is_due;
}

int report_progress_timeout(void) {
    pthread_mutex_lock(&progress_lock);
    int64_t left = (due_time() - now_nanoseconds()) / 1000000 + 1;
    bool is_due = has_progress;
    pthread_mutex_unlock(&progress_lock);
    // If the pipe was full, try again after 5 ms at the earliest.
    return !is_due ? -1 : left < 5 ? 5 : (int)left;
}

void report_flush_due(void) {
    pthread_mutex_lock(&progress_lock);
    bool is_due = has_progress && now_nanoseconds() >= due_time();
    pthread_mutex_unlock(&progress_lock);
    if (is_due)
        try_progress();
}

void report_flush_progress(void) {
    if (report_begin(MESSAGE_PROGRESS) == NULL)
        return;
    pthread_mutex_lock(&progress_lock);
    bool has = has_progress;
    if (has)
        take_progress();
    pthread_mutex_unlock(&progress_lock);
    if (has)
        report_end(&writer);
    else
        pthread_mutex_unlock(&pipe_lock);
}
