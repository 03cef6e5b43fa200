/* The control thread: reads *expire*, replies and conditions, calls the handlers for them, and notices the
 * end of the host. */
#include "crash.h"
#include "process.h"
#include "report.h"
#include "sample.h"
#include "sandbox.h"
#include "task.h"
#include "task_state.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define HOST_GONE_GRACE_MILLISECONDS 2000

void control_wake(bgtask_task *task) {
    eventfd_write(task->wake, 1);
}

/* MARK: Expiration */

/* Calls the expiration handler if the launch is expiring and the handler was not called yet. If there is
 * nothing to call, completes the task and ends the process. */
static void call_handler(bgtask_task *task) {
    pthread_mutex_lock(&task->lock);
    bgtask_expiration_handler handler = NULL;
    if (task->expiring && !task->completed && !task->handler_called)
        handler = task->handler;
    void *context = task->handler_context;
    task->handler_called = task->handler_called || handler != NULL;
    bool has_nothing =
        task->expiring && !task->completed && !task->handler_called && task->expiration_descriptor < 0;
    bool host_gone = task->host_gone;
    pthread_mutex_unlock(&task->lock);
    if (handler != NULL) {
        handler(task, &task->expiration, context);
        pthread_mutex_lock(&task->lock);
        task->handler_returned = true;
        pthread_cond_broadcast(&task->changed);
        pthread_mutex_unlock(&task->lock);
    }
    if (!has_nothing)
        return;
    task_complete(task, false, NULL, true);
    // The launcher kills what the task has started, unless it was stopped.
    if (host_gone)
        sandbox_kill_scope();
    _exit(0);
}

/* Begins the expiration; later calls have no effect. `reason` must stay valid. */
static void expire(bgtask_task *task, const char *reason, uint64_t grace, int64_t deadline) {
    pthread_mutex_lock(&task->lock);
    bool is_first = !task->expiring;
    if (is_first) {
        task->expiring = true;
        task->expiration = (bgtask_expiration){
            .struct_size = sizeof(bgtask_expiration),
            .reason = reason,
            .deadline_nanoseconds = deadline,
            .grace_milliseconds = grace > UINT32_MAX ? UINT32_MAX : (uint32_t)grace,
        };
        if (task->expiration_descriptor >= 0)
            eventfd_write(task->expiration_descriptor, 1);
    }
    pthread_mutex_unlock(&task->lock);
    if (is_first)
        call_handler(task);
}

/* MARK: The host's end */

static void *end_after_grace(void *context) {
    (void)context;
    struct timespec grace = {HOST_GONE_GRACE_MILLISECONDS / 1000, 0};
    while (nanosleep(&grace, &grace) != 0 && errno == EINTR)
        continue;
    sandbox_kill_scope();
    _exit(EXIT_PROTOCOL_ERROR);
}

static void host_gone(bgtask_task *task) {
    crash_release();
    pthread_mutex_lock(&task->lock);
    task->host_gone = true;
    for (struct waiting_call *call = task->calls; call != NULL; call = call->next) {
        call->answered = true;
        call->error = BGTASK_UNAVAILABLE;
    }
    pthread_cond_broadcast(&task->changed);
    pthread_mutex_unlock(&task->lock);
    // The launcher also kills the task. This is for the case that the launcher has died or was stopped, too,
    // and a handler hangs, or a program that it started.
    pthread_t watchdog;
    if (pthread_create(&watchdog, NULL, end_after_grace, NULL) != 0)
        _exit(EXIT_PROTOCOL_ERROR);
    expire(task, "hostGone", HOST_GONE_GRACE_MILLISECONDS,
           now_nanoseconds() + HOST_GONE_GRACE_MILLISECONDS * (int64_t)1000000);
}

/* MARK: Frames */

static void answer(bgtask_task *task, struct body body) {
    uint64_t id = body_number(body, 1, 0);
    pthread_mutex_lock(&task->lock);
    struct waiting_call *call = task->calls;
    while (call != NULL && call->id != id)
        call = call->next;
    if (call != NULL) {
        call->error = (bgtask_error)body_number(body, 2, 0);
        call->text = body_text(body, 3);
        call->copy = malloc(body.length);
        if (call->copy != NULL)
            memcpy(call->copy, body.bytes, body.length);
        call->length = call->copy != NULL ? body.length : 0;
        call->answered = true;
        pthread_cond_broadcast(&task->changed);
    }
    pthread_mutex_unlock(&task->lock);
}

static void obey(bgtask_task *task, const struct frame *frame) {
    if (frame->kind == MESSAGE_REPLY) {
        answer(task, frame->body);
    } else if (frame->kind == MESSAGE_EXPIRE) {
        char *reason = body_text(frame->body, 1);
        expire(task, reason != NULL ? reason : "", body_number(frame->body, 2, 0),
               (int64_t)body_number(frame->body, 3, 0));
    } else if (frame->kind == MESSAGE_SAMPLE) {
        uint64_t thread = body_number(frame->body, 1, 0);
        if (thread == SAMPLE_ALL_THREADS) {
            sample_send_all(crash_thread());
            crash_release();
        } else {
            sample_ask(thread, task->wake);
        }
    } else if (frame->kind == MESSAGE_CONDITIONS) {
        conditions_take(task, frame->body);
    } else {
        _exit(EXIT_PROTOCOL_ERROR);
    }
}

static void obey_all(bgtask_task *task) {
    struct frame frame;
    enum frame_status status;
    while ((status = frame_reader_next(&task->reader, &frame)) == FRAME_READY)
        obey(task, &frame);
    if (status == FRAME_VIOLATION)
        _exit(EXIT_PROTOCOL_ERROR);
}

static void await(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0)
        continue;
}

static void *control_thread(void *context) {
    bgtask_task *task = context;
    await(&task->may_enter);
    // This thread calls the expiration handler, and the kernel restricts each thread by itself.
    if (!sandbox_enter_launch(task->ruleset))
        _exit(EXIT_PROTOCOL_ERROR);
    sem_post(&task->has_entered);
    await(&task->may_hear);
    report_set_control_thread(pthread_self());
    obey_all(task); // the frames that followed *start*
    struct pollfd sources[2] = {{.fd = TASK_CONTROL, .events = POLLIN}, {.fd = task->wake, .events = POLLIN}};
    for (;;) {
        sources[0].revents = sources[1].revents = 0;
        poll(sources, 2, report_progress_timeout());
        // The plugin closed a descriptor that it does not own. The host sees the end of the report pipe and
        // reacts.
        for (int i = 0; i < 2; i++) {
            if (sources[i].revents & POLLNVAL) {
                sources[i].fd = -1;
                sources[i].revents = 0;
            }
        }
        if (sources[1].revents != 0) {
            eventfd_t count;
            eventfd_read(task->wake, &count);
            sample_send();
            call_handler(task);
        }
        report_flush_due();
        if (sources[0].revents == 0)
            continue;
        uint8_t *at;
        size_t room = frame_reader_room(&task->reader, &at);
        ssize_t count = read(TASK_CONTROL, at, room);
        if (count > 0) {
            frame_reader_added(&task->reader, (size_t)count);
            obey_all(task);
        } else if (count == 0) {
            sources[0].fd = -1; // poll ignores it from now on
            host_gone(task);
        } else if (errno != EINTR) {
            sources[0].fd = -1;
        }
    }
    return NULL;
}

bool control_prepare(bgtask_task *task) {
    sem_init(&task->may_enter, 0, 0);
    sem_init(&task->has_entered, 0, 0);
    sem_init(&task->may_hear, 0, 0);
    task->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (task->wake < 0)
        return false;
    // Signals are for the plugin's threads: this thread blocks them, so that it can always handle expiration.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    errno = pthread_create(&thread, NULL, control_thread, task);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return errno == 0;
}

void control_enter(bgtask_task *task) {
    sem_post(&task->may_enter);
}

void control_await_entry(bgtask_task *task) {
    await(&task->has_entered);
    if (task->ruleset >= 0)
        close(task->ruleset);
    task->ruleset = -1;
}

void control_start(bgtask_task *task) {
    crash_expect_host();
    sem_post(&task->may_hear);
}
