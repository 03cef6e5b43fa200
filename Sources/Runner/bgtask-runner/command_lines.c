/* The lines that a command writes: progress, titles, log messages and checkpoints. */
#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More complaints than this would only fill the log. */
#define COMPLAINTS_MAX 5

static void complain(struct command_lines *lines, bgtask_task *task, const bgtask_host *host,
                     const char *finding, const char *line) {
    if (lines->complaints++ >= COMPLAINTS_MAX)
        return;
    char text[512];
    snprintf(text, sizeof(text), "ignored a line that the command wrote to descriptor %d: %s: '%.200s%s'%s",
             COMMAND_CONTROL, finding, line, strlen(line) > 200 ? "..." : "",
             lines->complaints == COMPLAINTS_MAX ? ". Further lines are ignored without a message" : "");
    host->log(task, BGTASK_LOG_WARNING, text);
}

/* MARK: Words */

/* If a line begins with a word, returns what follows the spaces after it; otherwise NULL. */
static char *after_word(char *line, const char *word) {
    size_t length = strlen(word);
    if (strncmp(line, word, length) != 0 || (line[length] != ' ' && line[length] != 0))
        return NULL;
    line += length;
    return line + strspn(line, " ");
}

/* Reads a number of decimal digits, and moves `text` behind it. */
static bool take_number(char **text, int64_t *number) {
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    char *end;
    *number = strtoll(*text, &end, 10);
    *text = end;
    return errno == 0;
}

/* MARK: The lines */

/* `COMPLETED TOTAL [TEXT]` or `PERCENT% [TEXT]`. */
static const char *take_progress(char *text, bgtask_task *task, const bgtask_host *host) {
    static const char usage[] = "write 'progress COMPLETED TOTAL [TEXT]' or 'progress PERCENT% [TEXT]'";
    int64_t completed, total;
    if (!take_number(&text, &completed))
        return usage;
    if (*text == '%') {
        total = 100;
        text++;
    } else {
        if (*text != ' ')
            return usage;
        text += strspn(text, " ");
        if (!take_number(&text, &total))
            return usage;
    }
    if (*text != ' ' && *text != 0)
        return usage;
    text += strspn(text, " ");
    return host->progress(task, completed, total, *text != 0 ? text : NULL) == BGTASK_OK ? NULL : usage;
}

/* `LEVEL TEXT`. */
static const char *take_log(char *text, bgtask_task *task, const bgtask_host *host) {
    static const struct {
        const char *name;
        bgtask_log_level level;
    } levels[] = {{"debug", BGTASK_LOG_DEBUG},
                  {"info", BGTASK_LOG_INFO},
                  {"notice", BGTASK_LOG_NOTICE},
                  {"warning", BGTASK_LOG_WARNING},
                  {"error", BGTASK_LOG_ERROR}};
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        char *message = after_word(text, levels[i].name);
        if (message != NULL && *message != 0) {
            host->log(task, levels[i].level, message);
            return NULL;
        }
    }
    return "write 'log LEVEL TEXT' with the level debug, info, notice, warning or error";
}

static int digit_of(char character) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = character != 0 ? strchr(digits, character) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

/* Decodes base64 in place. Returns the number of bytes, or -1 if the text is not base64. */
static long decode(char *text) {
    size_t length = strlen(text);
    if (length % 4 != 0)
        return -1;
    while (length > 0 && text[length - 1] == '=' && strlen(text) - length < 2)
        length--;
    uint32_t bits = 0;
    long count = 0;
    for (size_t i = 0; i < length; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0)
            return -1;
        bits = bits << 6 | (uint32_t)digit;
        if (i % 4 != 0)
            text[count++] = (char)(bits >> (6 - 2 * (i % 4)));
    }
    return count;
}

/* `BASE64`; an empty text deletes the saved bytes. */
static const char *take_checkpoint(char *text, bgtask_task *task, const bgtask_host *host) {
    long count = decode(text);
    if (count < 0)
        return "write 'checkpoint BASE64' on one line, as 'base64 -w 0' prints it";
    switch (host->checkpoint(task, text, (size_t)count)) {
    case BGTASK_OK:
        return NULL;
    case BGTASK_TOO_LARGE:
        return "a checkpoint has at most 49152 bytes: save a path instead";
    default:
        return "the host did not take the checkpoint";
    }
}

/* `TITLE`, or `TITLE` and `SUBTITLE` with a tab between them. */
static const char *take_title(char *text, bgtask_task *task, const bgtask_host *host) {
    char *tab = strchr(text, '\t');
    if (tab != NULL)
        *tab++ = 0;
    if (*text == 0)
        return "write 'title TITLE', or a title, a tab and a subtitle";
    host->set_title(task, text, tab);
    return NULL;
}

static void obey(struct command_lines *lines, bgtask_task *task, const bgtask_host *host) {
    static const struct {
        const char *word;
        const char *(*take)(char *text, bgtask_task *task, const bgtask_host *host);
    } kinds[] = {{"progress", take_progress},
                 {"log", take_log},
                 {"checkpoint", take_checkpoint},
                 {"title", take_title}};
    char *line = lines->bytes;
    line[lines->length] = 0;
    if (line[0] == 0)
        return;
    if (strlen(line) != lines->length)
        return complain(lines, task, host, "it contains a NUL", line);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char *text = after_word(line, kinds[i].word);
        if (text == NULL)
            continue;
        char kept[208];
        snprintf(kept, sizeof(kept), "%s", line);
        const char *finding = kinds[i].take(text, task, host);
        if (finding != NULL)
            complain(lines, task, host, finding, kept);
        return;
    }
    complain(lines, task, host, "it begins with none of progress, log, checkpoint and title", line);
}

/* MARK: Reading */

bool command_lines_begin(struct command_lines *lines) {
    *lines = (struct command_lines){.bytes = malloc(COMMAND_LINE_MAX + 1)};
    return lines->bytes != NULL;
}

static void take(struct command_lines *lines, const char *bytes, size_t count, bgtask_task *task,
                 const bgtask_host *host) {
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n') {
            if (!lines->is_skipped)
                obey(lines, task, host);
            lines->length = 0;
            lines->is_skipped = false;
        } else if (lines->length < COMMAND_LINE_MAX) {
            lines->bytes[lines->length++] = bytes[i];
        } else if (!lines->is_skipped) {
            lines->bytes[lines->length] = 0;
            lines->is_skipped = true;
            complain(lines, task, host, "it is too long", lines->bytes);
        }
    }
}

bool command_lines_read(struct command_lines *lines, int pipe, bgtask_task *task, const bgtask_host *host) {
    char bytes[4096];
    for (size_t taken = 0; taken < COMMAND_READ_MAX;) {
        ssize_t count = read(pipe, bytes, sizeof(bytes));
        taken += count > 0 ? (size_t)count : 0;
        if (count > 0)
            take(lines, bytes, (size_t)count, task, host);
        else if (count == 0)
            return false;
        else if (errno != EINTR)
            return true;
    }
    return true;
}
