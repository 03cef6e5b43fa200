/* Messages from a handler for people: log lines, advice, faults and titles. The host sends no reply to
 * them. */
#include "host_functions.h"
#include "report.h"

#include <stddef.h>

#define LOG_MESSAGE_MAX 4096
#define LOG_NAME_MAX 256
#define CODE_MAX 128
#define ADVICE_MAX 1024
#define FAULT_MAX 4096

void host_log_as(bgtask_task *task, bgtask_log_level level, const char *subsystem, const char *category,
                 const char *message) {
    (void)task;
    struct frame_writer *writer = message != NULL ? report_begin(MESSAGE_LOG) : NULL;
    if (writer == NULL)
        return;
    bool is_known = (int)level >= BGTASK_LOG_DEBUG && (int)level <= BGTASK_LOG_ERROR;
    frame_add_number(writer, 1, is_known ? (uint64_t)level : BGTASK_LOG_NOTICE);
    frame_add_text(writer, 2, message, LOG_MESSAGE_MAX);
    if (subsystem != NULL)
        frame_add_text(writer, 3, subsystem, LOG_NAME_MAX);
    if (category != NULL)
        frame_add_text(writer, 4, category, LOG_NAME_MAX);
    report_end(writer);
}

void host_log(bgtask_task *task, bgtask_log_level level, const char *message) {
    host_log_as(task, level, NULL, NULL, message);
}

/* Sends a message with two texts; a missing second text is sent as an empty one. */
static void say(uint8_t kind, const char *first, size_t first_max, const char *second, size_t second_max) {
    struct frame_writer *writer = first != NULL ? report_begin(kind) : NULL;
    if (writer == NULL)
        return;
    frame_add_text(writer, 1, first, first_max);
    frame_add_text(writer, 2, second != NULL ? second : "", second_max);
    report_end(writer);
}

void host_advise(bgtask_task *task, const char *code, const char *message) {
    (void)task;
    say(MESSAGE_ADVICE, code, CODE_MAX, message, ADVICE_MAX);
}

void host_fault(bgtask_task *task, const char *code, const char *message) {
    (void)task;
    say(MESSAGE_FAULT, code, CODE_MAX, message, FAULT_MAX);
}

void host_set_title(bgtask_task *task, const char *title, const char *subtitle) {
    (void)task;
    say(MESSAGE_TITLE, title != NULL ? title : "", TITLE_MAX, subtitle, TITLE_MAX);
}
