/* The output of a command whose manifest names a pattern for its progress: it is read here, and what the log
 * shall have goes on to the host. */
#include "command.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longer lines go to the log without a search for progress. Our choice: programs draw progress in lines of a
 * terminal. */
#define SEARCHED_MAX 4096

static regex_t pattern;

bool command_output_set_pattern(const char *text) {
    return regcomp(&pattern, text, REG_EXTENDED) == 0;
}

bool command_output_begin(struct command_output *output, int target) {
    *output = (struct command_output){.bytes = malloc(SEARCHED_MAX + 2), .target = target};
    return output->bytes != NULL;
}

/* MARK: Progress */

/* Reads a number from a group of the match. A fraction is cut off: 45.7 percent are 45. */
static bool number_of(const char *line, regmatch_t group, int64_t *number) {
    char text[32], *end;
    size_t length = (size_t)(group.rm_eo - group.rm_so);
    if (group.rm_so < 0 || length == 0 || length >= sizeof(text))
        return false;
    memcpy(text, line + group.rm_so, length);
    text[length] = 0;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end != text && errno == 0 && *number >= 0;
}

/* Reports the last progress in a line; returns whether there is one. With one group it is a percentage, with
 * two it is what is done and the total. */
static bool report(const char *line, bgtask_task *task, const bgtask_host *host) {
    regmatch_t groups[3];
    int64_t completed = -1, total = 100;
    for (const char *at = line; regexec(&pattern, at, 3, groups, at == line ? 0 : REG_NOTBOL) == 0;) {
        int64_t first, second = 100;
        if (number_of(at, groups[1], &first) && (pattern.re_nsub < 2 || number_of(at, groups[2], &second))) {
            completed = first;
            total = second;
        }
        at += groups[0].rm_eo > 0 ? groups[0].rm_eo : 1;
        if (groups[0].rm_eo == 0 && at[-1] == 0)
            break;
    }
    return completed >= 0 && host->progress(task, completed, total, NULL) == BGTASK_OK;
}

/* MARK: Lines */

/* Writes to the log, whose reader may be slow. Without a reader, the bytes are lost. */
static void pass_on(const struct command_output *output, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(output->target, bytes, count);
        if (written < 0 && errno != EINTR)
            return;
        bytes += written > 0 ? written : 0;
        count -= written > 0 ? (size_t)written : 0;
    }
}

/* Handles what was kept of a line. A line that the program overwrites, because a carriage return or a
 * backspace follows, would be one of hundreds in the log if it only shows progress. */
static void end_line(struct command_output *output, bool is_overwritten, bgtask_task *task,
                     const bgtask_host *host) {
    output->bytes[output->length] = 0;
    bool has_progress = !output->is_passed && output->length > 0 && report(output->bytes, task, host);
    if (!(has_progress && is_overwritten) && (!is_overwritten || output->length > 0 || output->is_passed)) {
        output->bytes[output->length++] = '\n';
        pass_on(output, output->bytes, output->length);
    }
    output->length = 0;
    output->is_passed = output->has_return = false;
}

static void take(struct command_output *output, char byte, bgtask_task *task, const bgtask_host *host) {
    // A carriage return and a line feed are one end of a line.
    if (byte == '\n')
        return end_line(output, false, task, host);
    if (output->has_return || byte == '\b')
        end_line(output, true, task, host);
    output->has_return = byte == '\r';
    if (byte == '\r' || byte == '\b')
        return;
    if (output->length == SEARCHED_MAX) {
        pass_on(output, output->bytes, output->length);
        output->length = 0;
        output->is_passed = true;
    }
    output->bytes[output->length++] = byte;
}

bool command_output_read(struct command_output *output, int pipe, bgtask_task *task,
                         const bgtask_host *host) {
    char bytes[4096];
    for (size_t taken = 0; taken < COMMAND_READ_MAX;) {
        ssize_t count = read(pipe, bytes, sizeof(bytes));
        taken += count > 0 ? (size_t)count : 0;
        for (ssize_t i = 0; i < count; i++)
            take(output, bytes[i], task, host);
        if (count == 0)
            return false;
        if (count > 0 || errno == EINTR)
            continue;
        // Programs such as rsync end a line when they begin the next one, so its progress is read now.
        output->bytes[output->length] = 0;
        if (output->length > 0 && !output->is_passed)
            report(output->bytes, task, host);
        return true;
    }
    return true;
}

void command_output_end(struct command_output *output, bgtask_task *task, const bgtask_host *host) {
    if (output->bytes != NULL && output->length > 0)
        end_line(output, output->has_return, task, host);
    free(output->bytes);
    output->bytes = NULL;
}
