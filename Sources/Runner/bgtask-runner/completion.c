/* The completion of a task. It is sent once: by the handler, or by an expiration that finds no handler to
 * call. */
#include "process.h"
#include "report.h"
#include "task_state.h"

#include <pthread.h>

/* How long a plugin, and how long an app, may take to set its expiration handler before it counts as not
 * listening: 0.1 s and 1 s. Both numbers are our choice: `run` sets the handler in its first lines; an app
 * sets it after its launch code, which takes milliseconds. */
#define LISTENING_TIME_NANOSECONDS 100000000
#define APP_LISTENING_TIME_NANOSECONDS 1000000000

/* Whether the handler had enough time to listen for an expiration and did not; otherwise, the launch is
 * tried again. Called with the lock held. Polling counts as listening, except in an app: it may read its
 * deadline only for planning. */
static bool never_listened(const bgtask_task *task) {
    if (task->polled && !task->is_app)
        return false;
    int64_t time = task->is_app ? APP_LISTENING_TIME_NANOSECONDS : LISTENING_TIME_NANOSECONDS;
    return task->settled || (task->run_at != 0 && now_nanoseconds() - task->run_at >= time);
}

void task_note_exit_status(bgtask_task *task, uint8_t status) {
    pthread_mutex_lock(&task->lock);
    task->has_exit_status = true;
    task->exit_status = status;
    pthread_mutex_unlock(&task->lock);
}

void task_complete(bgtask_task *task, bool success, const char *message, bool unstarted) {
    pthread_mutex_lock(&task->lock);
    bool is_first = !task->completed;
    task->completed = true;
    bool has_status = task->has_exit_status;
    uint8_t status = task->exit_status;
    bool is_deaf = task->program == NULL && (unstarted ? never_listened(task) : !task->listened);
    pthread_mutex_unlock(&task->lock);
    if (!is_first)
        return;
    report_flush_progress();
    struct frame_writer *writer = report_begin(MESSAGE_DONE);
    if (writer != NULL) {
        frame_add_flag(writer, 1, success);
        if (message != NULL)
            frame_add_text(writer, 2, message, 1024);
        if (unstarted)
            frame_add_flag(writer, 3, true);
        if (is_deaf)
            frame_add_flag(writer, 4, true);
        if (has_status)
            frame_add_number(writer, 5, status);
        report_end(writer);
    }
    pthread_mutex_lock(&task->lock);
    task->done_sent = true;
    task->completed_at = now_nanoseconds();
    pthread_cond_broadcast(&task->changed);
    pthread_mutex_unlock(&task->lock);
}
