/* The task process: reads its launch, finds the handler, runs it on the main thread, and ends. */
#include "task.h"
#include "call.h"
#include "command.h"
#include "crash.h"
#include "host_functions.h"
#include "isolation.h"
#include "process.h"
#include "report.h"
#include "task_state.h"
#include "template.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const no_texts[] = {NULL};

struct bgtask_task the_task = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .expiration_descriptor = -1,
    .assertion_allowance = 30000 * (int64_t)1000000,
    .launch = {.struct_size = sizeof(bgtask_launch),
               .last_success_milliseconds = -1,
               .lease_end_nanoseconds = INT64_MAX,
               .title = "",
               .subtitle = "",
               .permitted_identifiers = no_texts,
               .modes = no_texts},
    // Defaults; for every launch of a library, the host sends the real values before *start*.
    .conditions = {.struct_size = sizeof(bgtask_conditions),
                   .power = BGTASK_POWER_UNKNOWN,
                   .battery = -1,
                   .refresh = BGTASK_REFRESH_AVAILABLE},
};

static _Noreturn void send_refusal(const char *finding, bool shortage) {
    struct frame_writer *writer = report_begin(MESSAGE_LOAD_FAILED);
    frame_add_text(writer, 1, finding, 4096);
    if (shortage)
        frame_add_flag(writer, 2, true);
    report_end(writer);
    _exit(EXIT_LOAD_FAILED);
}

void task_refuse(int report, const char *finding) {
    report_start(report);
    send_refusal(finding, false);
}

void task_refuse_call(int report, const char *finding, int code) {
    report_start(report);
    send_refusal(finding, is_shortage(code));
}

/* Like task_refuse, but after the report pipe was set. */
static _Noreturn void refuse(const char *finding) {
    send_refusal(finding, false);
}

/* MARK: Reading the launch */

static const char *text_or(struct body body, uint8_t tag, const char *otherwise) {
    const char *text = body_text(body, tag);
    return text != NULL ? text : otherwise;
}

/* Returns all texts with a tag as a list that ends with NULL and lives until the process ends. */
static const char *const *texts_of(struct body body, uint8_t wanted) {
    size_t count = 0;
    uint8_t tag;
    struct value value;
    for (size_t at = 0; body_next(body, &at, &tag, &value);)
        count += tag == wanted;
    const char **texts = count > 0 ? calloc(count + 1, sizeof(*texts)) : NULL;
    if (texts == NULL)
        return no_texts;
    size_t filled = 0;
    for (size_t at = 0; body_next(body, &at, &tag, &value);)
        if (tag == wanted && (texts[filled] = strndup((const char *)value.bytes, value.length)) != NULL)
            filled++;
    return texts;
}

/* Returns the kinds of the permitted identifiers, one byte each; kinds that the host did not send are 0. */
static const uint8_t *kinds_of(struct body body, const char *const *identifiers) {
    size_t count = 0;
    while (identifiers[count] != NULL)
        count++;
    uint8_t *kinds = calloc(count + 1, 1);
    struct value value = {0};
    if (kinds == NULL)
        _exit(EXIT_PROTOCOL_ERROR);
    if (body_find(body, 18, &value))
        memcpy(kinds, value.bytes, value.length < count ? value.length : count);
    return kinds;
}

static void take_launch(bgtask_task *task, struct body body) {
    bgtask_launch *launch = &task->launch;
    launch->launch_id = body_number(body, 1, 0);
    launch->request_id = body_number(body, 2, 0);
    launch->identifier = text_or(body, 3, "");
    launch->bundle = text_or(body, 4, "");
    launch->kind = (bgtask_kind)body_number(body, 5, 0);
    launch->attempt = (uint32_t)body_number(body, 6, 0);
    launch->fencing_token = body_number(body, 7, 0);
    launch->last_success_milliseconds = (int64_t)body_number(body, 8, (uint64_t)-1);
    launch->lease_end_nanoseconds = (int64_t)body_number(body, 9, INT64_MAX);
    launch->data_directory = text_or(body, 10, "");
    launch->temporary_directory = text_or(body, 11, "");
    launch->title = text_or(body, 12, "");
    launch->subtitle = text_or(body, 13, "");
    launch->permitted_identifiers = texts_of(body, 16);
    launch->permitted_kinds = kinds_of(body, launch->permitted_identifiers);
    launch->modes = texts_of(body, 17);
    // This must be done before any code of the launch runs. It also applies to a standby, which was cloned
    // before its launch was known.
    if (launch->temporary_directory[0] != 0 && setenv("TMPDIR", launch->temporary_directory, 1) != 0)
        _exit(EXIT_PROTOCOL_ERROR);
    task->debug = body_number(body, 14, 0) != 0;
    launch->assertion_allowance_milliseconds = (int64_t)body_number(body, 15, 30000);
    task->assertion_allowance = launch->assertion_allowance_milliseconds * 1000000;
}

/* Copies a whole message, whose fields are read later. */
static struct body take_message(struct body body) {
    uint8_t *copy = malloc(body.length);
    if (copy == NULL)
        _exit(EXIT_PROTOCOL_ERROR);
    memcpy(copy, body.bytes, body.length);
    return (struct body){.bytes = copy, .length = body.length};
}

/* Copies the bytes of a payload, checkpoint or program, with a NUL after them for code that ignores the
 * length. */
static const uint8_t *take_bytes(struct body body, size_t *length) {
    struct value value = {0};
    body_find(body, 1, &value);
    uint8_t *copy = malloc(value.length + 1);
    if (copy == NULL)
        _exit(EXIT_PROTOCOL_ERROR);
    memcpy(copy, value.bytes, value.length);
    copy[value.length] = 0;
    *length = value.length;
    return copy;
}

/* Reads frames until *start*. Ends the process after a frame that is not allowed here, and at the end of
 * the host. */
static void read_launch(bgtask_task *task) {
    bgtask_launch *launch = &task->launch;
    struct frame frame;
    for (;;) {
        enum frame_status status = frame_reader_next(&task->reader, &frame);
        if (status == FRAME_NEEDS_MORE) {
            uint8_t *at;
            size_t room = frame_reader_room(&task->reader, &at);
            ssize_t count = read(TASK_CONTROL, at, room);
            if (count == 0 || (count < 0 && errno != EINTR))
                _exit(EXIT_PROTOCOL_ERROR);
            frame_reader_added(&task->reader, count > 0 ? (size_t)count : 0);
            continue;
        }
        bool is_known = status == FRAME_READY && (launch->identifier != NULL || frame.kind == MESSAGE_LAUNCH);
        if (is_known && frame.kind == MESSAGE_START)
            return;
        if (is_known && frame.kind == MESSAGE_LAUNCH && launch->identifier == NULL)
            take_launch(task, frame.body);
        else if (is_known && frame.kind == MESSAGE_PAYLOAD && launch->payload == NULL)
            launch->payload = take_bytes(frame.body, &launch->payload_length);
        else if (is_known && frame.kind == MESSAGE_CHECKPOINT_IN && launch->checkpoint == NULL)
            launch->checkpoint = take_bytes(frame.body, &launch->checkpoint_length);
        else if (is_known && frame.kind == MESSAGE_PROGRAM && task->program == NULL)
            task->program = take_bytes(frame.body, &task->program_length);
        else if (is_known && frame.kind == MESSAGE_COMMAND && task->command.bytes == NULL)
            task->command = take_message(frame.body);
        else if (is_known && frame.kind == MESSAGE_CONDITIONS)
            conditions_take(task, frame.body);
        else
            _exit(EXIT_PROTOCOL_ERROR);
    }
}

/* MARK: The handler */

/* Asks the library for its plugin struct. Ends the process if there is none, or if it cannot be used. */
static const bgtask_plugin *find_plugin(void *library) {
    if (library == NULL)
        refuse("the launch has no library, no call program and no command");
    const bgtask_plugin *(*entry)(void) =
        (const bgtask_plugin *(*)(void))dlsym(library, "bgtask_plugin_entry");
    if (entry == NULL)
        refuse("the library does not export bgtask_plugin_entry; see bgtask.h, BGTASK_EXPORT");
    const bgtask_plugin *plugin = entry();
    if (plugin == NULL)
        refuse("bgtask_plugin_entry returned NULL");
    char finding[160];
    if (plugin->abi_version != BGTASK_ABI_VERSION) {
        snprintf(
            finding, sizeof(finding),
            "the library uses ABI version %u, but this bgtask-runner %u: build the library again with the "
            "bgtask.h of this bgtask",
            plugin->abi_version, BGTASK_ABI_VERSION);
        refuse(finding);
    }
    if (!BGTASK_HAS(plugin, bgtask_plugin, run) || plugin->run == NULL)
        refuse("the library's bgtask_plugin has no run function, or its struct_size is not set");
    return plugin;
}

/* Ends the process after `run` has returned: when no call waits for a reply, and all assertions have ended
 * or used up their allowance. The wait for calls is bounded by the host, which kills a task that still
 * exists 5 s after it completed. */
static _Noreturn void finish(bgtask_task *task) {
    pthread_mutex_lock(&task->lock);
    // `run` may have returned because it noticed the expiration, while the expiration handler, which
    // completes the task, is still running.
    while (!task->completed && task->expiring && task->handler != NULL && !task->handler_returned)
        pthread_cond_wait(&task->changed, &task->lock);
    while (task->completed && !task->done_sent)
        pthread_cond_wait(&task->changed, &task->lock);
    int64_t end = task->completed_at + task->assertion_allowance;
    struct timespec until = {end / 1000000000, end % 1000000000};
    while (task->completed && task->assertion_count > 0 &&
           pthread_cond_timedwait(&task->changed, &task->lock, &until) != ETIMEDOUT)
        continue;
    // Another thread may be submitting a request.
    while (has_busy_calls(task))
        pthread_cond_wait(&task->changed, &task->lock);
    bool completed = task->completed, host_gone = task->host_gone;
    pthread_mutex_unlock(&task->lock);
    if (!completed)
        report_flush_progress();
    fflush(NULL);
    // The launcher kills what the task has started, unless it was stopped.
    if (host_gone)
        sandbox_kill_scope();
    // exit would run destructors while other threads of the plugin are running, although all work is done and
    // reported.
    _exit(0);
}

bool task_prepare(void) {
    bgtask_task *task = &the_task;
    setvbuf(stdout, NULL, _IOLBF, 0); // a pipe would be fully buffered, and a crash would lose the output
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&task->changed, &monotonic);
    return control_prepare(task);
}

/* Reads the launch, and prepares its restriction. */
static void take_orders(bgtask_task *task) {
    report_start(TASK_REPORT);
    read_launch(task);
    char finding[512];
    if (!sandbox_prepare_launch(task->launch.temporary_directory, &task->ruleset, finding, sizeof(finding)))
        refuse(finding);
}

/* Restricts this thread to the launch. */
static void enter_launch(const bgtask_task *task) {
    if (!sandbox_enter_launch(task->ruleset))
        refuse("the sandbox can't be applied: landlock_restrict_self");
}

static void forbid_rules(void) {
    if (!isolation_forbid_rules())
        refuse("the sandbox can't be applied: the seccomp filter against Landlock");
}

void task_enter_launch(void) {
    bgtask_task *task = &the_task;
    take_orders(task);
    control_enter(task); // at the same time as this thread
    enter_launch(task);
    crash_prepare();
    control_await_entry(task);
    forbid_rules();
}

void task_run(void *library, int64_t since) {
    bgtask_task *task = &the_task;
    task->library = library;
    const bgtask_plugin *plugin = NULL;
    const char *why = NULL;
    if (task->command.bytes != NULL)
        why = command_prepare(task, &host_table, task->command);
    else if (task->program != NULL)
        why = call_prepare(task, &host_table, task->program, task->program_length);
    else
        plugin = find_plugin(library);
    if (why != NULL)
        refuse(why);
    control_start(task);

    struct frame_writer *writer = report_begin(MESSAGE_READY);
    frame_add_number(writer, 1, PROTOCOL_VERSION);
    if (plugin != NULL)
        frame_add_number(writer, 2, plugin->abi_version);
    frame_add_number(writer, 3, (uint64_t)(now_nanoseconds() - since));
    report_end(writer);
    if (task->debug)
        raise(SIGSTOP);

    pthread_mutex_lock(&task->lock);
    task->is_app = library != NULL && dlsym(library, "bgtask_app_entry") != NULL;
    task->run_at = now_nanoseconds();
    pthread_mutex_unlock(&task->lock);
    if (plugin != NULL)
        plugin->run(task, &host_table);
    else if (task->command.bytes != NULL)
        command_run();
    else
        call_run();
    finish(task);
}

int task_main(int count, char **arguments) {
    if (count < 2)
        return 64;
    fcntl(TASK_CONTROL, F_SETFD, FD_CLOEXEC);
    fcntl(TASK_REPORT, F_SETFD, FD_CLOEXEC);
    char finding[512];
    struct sandbox sandbox;
    if (!isolation_complete_template(TASK_MESSAGE, &sandbox, finding, sizeof(finding)))
        task_refuse(TASK_REPORT, finding);
    // A sandbox whose calls are not observed has no listener. The launcher then reads the end of the socket.
    if (sandbox.listener >= 0 && !packet_send_listener(TASK_LISTENER, sandbox.listener))
        task_refuse(TASK_REPORT, "the listener of the filter can't be sent to the launcher");
    close(TASK_LISTENER);
    if (!isolation_enter_task(strcmp(arguments[1], "subprocesses") == 0, finding, sizeof(finding)))
        task_refuse(TASK_REPORT, finding);
    // No code of the library runs before the restriction to the launch, not even its constructors.
    bgtask_task *task = &the_task;
    take_orders(task);
    enter_launch(task);
    if (task->ruleset >= 0)
        close(task->ruleset);
    task->ruleset = -1;
    forbid_rules();
    void *library = count > 2 ? dlopen(arguments[2], RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (count > 2 && library == NULL)
        refuse(dlerror());
    if (!task_prepare())
        send_refusal("the control thread can't be started", true);
    control_enter(task);
    crash_prepare();
    control_await_entry(task);
    task_run(library, strtoll(arguments[0], NULL, 10));
}
