/* The functions of the host table. bgtask.h describes their contracts. */
#include "host_functions.h"
#include "process.h"
#include "report.h"
#include "sample.h"
#include "task_state.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#define ASSERTION_NAME_MAX 256
#define ASSERTION_FRAMES_MAX 16

static bool is_text(const char *text) {
    return text != NULL && utf8_is_valid((const uint8_t *)text, strlen(text));
}

static const bgtask_launch *host_launch(const bgtask_task *task) {
    return &task->launch;
}

static bgtask_error host_progress(bgtask_task *task, int64_t completed, int64_t total, const char *message) {
    if (completed < 0 || total < 0)
        return BGTASK_INVALID_ARGUMENT;
    if (report_progress(completed, total, message))
        control_wake(task);
    return BGTASK_OK;
}

static bgtask_error host_checkpoint(bgtask_task *task, const void *bytes, size_t length) {
    (void)task;
    if (bytes == NULL && length > 0)
        return BGTASK_INVALID_ARGUMENT;
    if (length > BGTASK_BLOB_MAX)
        return BGTASK_TOO_LARGE;
    struct frame_writer *writer = report_begin(MESSAGE_CHECKPOINT_OUT);
    if (writer == NULL)
        return BGTASK_UNAVAILABLE;
    frame_add_bytes(writer, 1, bytes, length);
    return report_end(writer) ? BGTASK_OK : BGTASK_UNAVAILABLE;
}

/* MARK: Calls that wait for the host's answer */

bool has_busy_calls(const bgtask_task *task) {
    for (const struct waiting_call *call = task->calls; call != NULL; call = call->next)
        if (!call->idle)
            return true;
    return false;
}

void say_why(char *why, size_t size, const char *text) {
    if (why != NULL && size > 0)
        snprintf(why, size, "%s", text);
}

struct frame_writer *call_begin(bgtask_task *task, struct waiting_call *call, uint8_t kind) {
    *call = (struct waiting_call){.error = BGTASK_UNAVAILABLE, .idle = kind == MESSAGE_SESSION_CALL};
    if (report_is_control_thread()) {
        call->error = BGTASK_INVALID_ARGUMENT; // this thread must read the reply, so it cannot wait for it
        return NULL;
    }
    pthread_mutex_lock(&task->lock);
    bool is_gone = task->host_gone;
    if (!is_gone) {
        call->id = ++task->last_call;
        call->next = task->calls;
        task->calls = call;
    }
    pthread_mutex_unlock(&task->lock);
    if (is_gone)
        return NULL;
    struct frame_writer *writer = report_begin(kind);
    frame_add_number(writer, 1, call->id);
    return writer;
}

void call_end(bgtask_task *task, struct waiting_call *call, struct frame_writer *writer) {
    bool sent = report_end(writer);
    pthread_mutex_lock(&task->lock);
    while (sent && !call->answered)
        pthread_cond_wait(&task->changed, &task->lock);
    for (struct waiting_call **link = &task->calls; *link != NULL; link = &(*link)->next)
        if (*link == call) {
            *link = call->next;
            break;
        }
    if (!has_busy_calls(task))
        pthread_cond_broadcast(&task->changed); // the main thread may be waiting until no calls are left
    pthread_mutex_unlock(&task->lock);
}

void say_outcome(const struct waiting_call *call, char *why, size_t size) {
    if (call->error == BGTASK_OK)
        say_why(why, size, "");
    else if (call->text != NULL)
        say_why(why, size, call->text);
    else if (call->error == BGTASK_INVALID_ARGUMENT)
        say_why(why, size,
                "the control thread, on which an expiration handler runs, can't submit: use another thread");
    else
        say_why(why, size, "the host is gone: nothing can be submitted any more");
}

static bgtask_error host_submit(bgtask_task *task, const bgtask_request *request, char *why,
                                size_t why_size) {
    if (request == NULL || !BGTASK_HAS(request, bgtask_request, identifier) ||
        !is_text(request->identifier)) {
        say_why(why, why_size, "the request has no identifier in UTF-8, or its struct_size is not set");
        return BGTASK_INVALID_ARGUMENT;
    }
    bool has_payload = BGTASK_HAS(request, bgtask_request, payload_length) && request->payload != NULL;
    if (has_payload && request->payload_length > BGTASK_BLOB_MAX) {
        say_why(why, why_size,
                "the payload is larger than 49152 bytes: put the data into a file and pass its path");
        return BGTASK_TOO_LARGE;
    }
    struct waiting_call call;
    struct frame_writer *writer = call_begin(task, &call, MESSAGE_SUBMIT);
    if (writer != NULL) {
        frame_add_text(writer, 2, request->identifier, UINT16_MAX);
        if (BGTASK_HAS(request, bgtask_request, earliest_begin_milliseconds) &&
            request->earliest_begin_milliseconds > 0)
            frame_add_number(writer, 3, (uint64_t)request->earliest_begin_milliseconds);
        if (BGTASK_HAS(request, bgtask_request, requires_external_power))
            frame_add_flag(writer, 4, request->requires_external_power != 0);
        if (BGTASK_HAS(request, bgtask_request, requires_network_connectivity))
            frame_add_flag(writer, 5, request->requires_network_connectivity != 0);
        if (has_payload)
            frame_add_bytes(writer, 6, request->payload, request->payload_length);
        if (BGTASK_HAS(request, bgtask_request, title) && request->title != NULL)
            frame_add_text(writer, 7, request->title, TITLE_MAX);
        if (BGTASK_HAS(request, bgtask_request, subtitle) && request->subtitle != NULL)
            frame_add_text(writer, 8, request->subtitle, TITLE_MAX);
        if (BGTASK_HAS(request, bgtask_request, fails_unless_immediate))
            frame_add_flag(writer, 11, request->fails_unless_immediate != 0);
        if (BGTASK_HAS(request, bgtask_request, requires_gpu))
            frame_add_flag(writer, 12, request->requires_gpu != 0);
        if (BGTASK_HAS(request, bgtask_request, deadline_milliseconds) && request->deadline_milliseconds > 0)
            frame_add_number(writer, 13, (uint64_t)request->deadline_milliseconds);
        if (BGTASK_HAS(request, bgtask_request, kind) && request->kind != 0)
            frame_add_number(writer, 14, (uint64_t)(uint32_t)request->kind);
        call_end(task, &call, writer);
    }
    say_outcome(&call, why, why_size);
    free(call.text);
    free(call.copy);
    return call.error;
}

static bgtask_error host_cancel(bgtask_task *task, const char *identifier) {
    if (identifier != NULL && !is_text(identifier))
        return BGTASK_INVALID_ARGUMENT;
    struct waiting_call call;
    struct frame_writer *writer = call_begin(task, &call, MESSAGE_CANCEL);
    if (writer != NULL) {
        if (identifier != NULL)
            frame_add_text(writer, 2, identifier, UINT16_MAX);
        call_end(task, &call, writer);
    }
    free(call.text);
    free(call.copy);
    return call.error;
}

static void visit(struct body nested, bgtask_pending_visitor visitor, void *context) {
    char *identifier = body_violation(nested, &pending_request_rule) == NULL ? body_text(nested, 2) : NULL;
    if (identifier == NULL)
        return;
    char *title = body_text(nested, 7), *subtitle = body_text(nested, 8);
    bgtask_pending_request pending = {
        .struct_size = sizeof(pending),
        .request_id = body_number(nested, 9, 0),
        .identifier = identifier,
        .kind = (bgtask_kind)body_number(nested, 10, 0),
        .earliest_begin_milliseconds = (int64_t)body_number(nested, 3, 0),
        .requires_external_power = (int32_t)body_number(nested, 4, 0),
        .requires_network_connectivity = (int32_t)body_number(nested, 5, 0),
        .title = title != NULL ? title : "",
        .subtitle = subtitle != NULL ? subtitle : "",
    };
    visitor(&pending, context);
    free(title);
    free(subtitle);
    free(identifier);
}

static bgtask_error host_pending(bgtask_task *task, bgtask_pending_visitor visitor, void *context) {
    if (visitor == NULL)
        return BGTASK_INVALID_ARGUMENT;
    struct waiting_call call;
    struct frame_writer *writer = call_begin(task, &call, MESSAGE_PENDING);
    if (writer != NULL)
        call_end(task, &call, writer);
    uint8_t tag;
    struct value value;
    for (size_t at = 0;
         call.copy != NULL && body_next((struct body){call.copy, call.length}, &at, &tag, &value);)
        if (tag == 4)
            visit((struct body){value.bytes, value.length}, visitor, context);
    free(call.text);
    free(call.copy);
    return call.error;
}

/* MARK: Assertions */

static bgtask_error host_begin_assertion(bgtask_task *task, const char *name, uint64_t *assertion) {
    if (assertion == NULL)
        return BGTASK_INVALID_ARGUMENT;
    *assertion = 0;
    if (!is_text(name))
        return BGTASK_INVALID_ARGUMENT;
    pthread_mutex_lock(&task->lock);
    bgtask_error error = task->expiring ? BGTASK_EXPIRING : BGTASK_OK;
    if (error == BGTASK_OK && task->assertion_count == task->assertion_room) {
        size_t room = task->assertion_room == 0 ? 16 : task->assertion_room * 2;
        uint64_t *grown = realloc(task->assertions, room * sizeof(*grown));
        if (grown == NULL) {
            error = BGTASK_UNAVAILABLE;
        } else {
            task->assertions = grown;
            task->assertion_room = room;
        }
    }
    if (error == BGTASK_OK) {
        *assertion = ++task->last_assertion;
        task->assertions[task->assertion_count++] = *assertion;
    }
    pthread_mutex_unlock(&task->lock);
    // The report of an assertion that never ends names the code that began it.
    uint64_t places[ASSERTION_FRAMES_MAX];
    size_t count = error == BGTASK_OK ? sample_caller(places, ASSERTION_FRAMES_MAX) : 0;
    struct frame_writer *writer = error == BGTASK_OK ? report_begin(MESSAGE_BEGIN_ASSERTION) : NULL;
    if (writer != NULL) {
        frame_add_number(writer, 1, *assertion);
        frame_add_text(writer, 2, name, ASSERTION_NAME_MAX);
        frame_add_bytes(writer, 3, places, count * sizeof(places[0]));
        report_end(writer);
    }
    return error;
}

static void host_end_assertion(bgtask_task *task, uint64_t assertion) {
    pthread_mutex_lock(&task->lock);
    bool found = false;
    for (size_t i = 0; i < task->assertion_count && !found; i++)
        if (task->assertions[i] == assertion) {
            task->assertions[i] = task->assertions[--task->assertion_count];
            found = true;
        }
    pthread_mutex_unlock(&task->lock);
    if (!found)
        return;
    struct frame_writer *writer = report_begin(MESSAGE_END_ASSERTION);
    if (writer != NULL) {
        frame_add_number(writer, 1, assertion);
        report_end(writer);
    }
    // The host must get the message first: the process may end as soon as no assertion is left.
    pthread_mutex_lock(&task->lock);
    pthread_cond_broadcast(&task->changed);
    pthread_mutex_unlock(&task->lock);
}

/* MARK: Completion and expiration */

static void host_complete(bgtask_task *task, int32_t success, const char *message) {
    task_complete(task, success != 0, message, false);
}

static void host_set_expiration_handler(bgtask_task *task, bgtask_expiration_handler handler, void *context) {
    pthread_mutex_lock(&task->lock);
    task->handler = handler;
    task->listened = task->listened || handler != NULL;
    task->settled = task->settled || handler == NULL;
    task->handler_context = context;
    bool is_late = task->expiring && handler != NULL;
    pthread_mutex_unlock(&task->lock);
    if (is_late)
        control_wake(task);
}

static int host_expiration_descriptor(bgtask_task *task) {
    pthread_mutex_lock(&task->lock);
    if (task->expiration_descriptor < 0)
        task->expiration_descriptor = eventfd(task->expiring ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK);
    task->listened = true;
    int descriptor = task->expiration_descriptor;
    pthread_mutex_unlock(&task->lock);
    return descriptor;
}

static int host_expired(bgtask_task *task, bgtask_expiration *expiration) {
    pthread_mutex_lock(&task->lock);
    task->polled = true;
    bool expiring = task->expiring;
    if (expiring && expiration != NULL) {
        size_t size = expiration->struct_size;
        if (size > sizeof(*expiration))
            size = sizeof(*expiration);
        if (size > sizeof(size_t)) // the plugin's struct may be older and shorter; its size stays unchanged
            memcpy((char *)expiration + sizeof(size_t), (const char *)&task->expiration + sizeof(size_t),
                   size - sizeof(size_t));
    }
    pthread_mutex_unlock(&task->lock);
    return expiring ? 1 : 0;
}

static const void *host_extension(bgtask_task *task, const char *identifier) {
    (void)task;
    return identifier != NULL && strcmp(identifier, BGTASK_SESSIONS) == 0 ? &sessions_table : NULL;
}

static void *host_symbol(bgtask_task *task, const char *name) {
    return task->library != NULL && name != NULL ? dlsym(task->library, name) : NULL;
}

const bgtask_host host_table = {
    .abi_version = BGTASK_ABI_VERSION,
    .struct_size = sizeof(bgtask_host),
    .launch = host_launch,
    .progress = host_progress,
    .log = host_log,
    .checkpoint = host_checkpoint,
    .submit = host_submit,
    .cancel = host_cancel,
    .pending = host_pending,
    .begin_assertion = host_begin_assertion,
    .end_assertion = host_end_assertion,
    .complete = host_complete,
    .set_expiration_handler = host_set_expiration_handler,
    .expiration_descriptor = host_expiration_descriptor,
    .expired = host_expired,
    .extension = host_extension,
    .log_as = host_log_as,
    .advise = host_advise,
    .fault = host_fault,
    .conditions = host_conditions,
    .set_conditions_handler = host_set_conditions_handler,
    .set_title = host_set_title,
    .symbol = host_symbol,
};
