#include "answer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void answer_reset(struct answer *answer) {
    free(answer->lines);
    *answer = (struct answer){.length = -1, .first = -1, .total = -1, .date = -1, .retry_after = -1};
}

bool answer_is_success(const struct answer *answer) {
    return answer->status >= 200 && answer->status < 300;
}

bool answer_is_busy(const struct answer *answer) {
    return answer->status >= 500 || answer->status == 408 || answer->status == 425 || answer->status == 429;
}

/* Reads a number of digits only; -1 if the text is anything else, or too large. */
static int64_t read_number(const char **text) {
    int64_t number = 0;
    const char *at = *text;
    for (; isdigit((unsigned char)*at); at++) {
        if (number > (INT64_MAX - 9) / 10)
            return -1;
        number = number * 10 + (*at - '0');
    }
    bool is_valid = at != *text;
    *text = at;
    return is_valid ? number : -1;
}

/* `bytes 100-199/200` or, if the server does not know the length, `bytes 100-199/` and a star. */
static void read_range(struct answer *answer, const char *text) {
    if (strncasecmp(text, "bytes ", 6) != 0)
        return;
    text += 6;
    int64_t first = read_number(&text);
    if (first < 0 || *text++ != '-')
        return;
    int64_t last = read_number(&text);
    if (last < first || *text++ != '/')
        return;
    answer->first = first;
    int64_t total = *text == '*' ? -1 : read_number(&text);
    if (total > last)
        answer->total = total;
}

/* Retry-After is a number of seconds or a date. */
static int64_t read_delay(const struct answer *answer, const char *text) {
    const char *at = text;
    int64_t seconds = read_number(&at);
    if (seconds >= 0)
        return seconds;
    time_t date = curl_getdate(text, NULL), base = answer->date >= 0 ? answer->date : time(NULL);
    return date >= base ? (int64_t)(date - base) : -1;
}

static bool keep_line(struct answer *answer, const char *line, size_t length) {
    char *lines = realloc(answer->lines, answer->line_bytes + length + 2);
    if (lines == NULL)
        return false;
    memcpy(lines + answer->line_bytes, line, length);
    answer->lines = lines;
    answer->line_bytes += length;
    lines[answer->line_bytes++] = '\n';
    lines[answer->line_bytes] = '\0';
    answer->line_count++;
    return true;
}

static void copy(char *to, size_t size, const char *from) {
    size_t length = strlen(from);
    if (length < size)
        memcpy(to, from, length + 1);
}

/* Reads one field. Returns NULL, or why the response is refused. */
static const char *read_field(struct answer *answer, const char *name, const char *value) {
    if (strcasecmp(name, "Transfer-Encoding") == 0) {
        // libcurl would decompress the body, to any length.
        if (strcasecmp(value, "chunked") != 0 && strcasecmp(value, "identity") != 0)
            return "the server used a transfer encoding that was not requested";
    } else if (strcasecmp(name, "Content-Length") == 0) {
        answer->length = read_number(&value);
    } else if (strcasecmp(name, "Content-Range") == 0) {
        read_range(answer, value);
    } else if (strcasecmp(name, "ETag") == 0) {
        // A weak one does not promise the same bytes.
        if (value[0] == '"')
            copy(answer->etag, sizeof(answer->etag), value);
    } else if (strcasecmp(name, "Last-Modified") == 0) {
        copy(answer->modified, sizeof(answer->modified), value);
    } else if (strcasecmp(name, "Date") == 0) {
        answer->date = curl_getdate(value, NULL);
    } else if (strcasecmp(name, "Retry-After") == 0) {
        answer->retry_after = read_delay(answer, value);
    } else if (strcasecmp(name, "Location") == 0) {
        long status = answer->status;
        answer->is_redirect =
            status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
    }
    return NULL;
}

/* A file that was changed in the second of the response may change again in it, without a new date. */
static void drop_weak_date(struct answer *answer) {
    time_t modified = answer->modified[0] == '\0' ? -1 : curl_getdate(answer->modified, NULL);
    if (modified < 0 || answer->date < 0 || answer->date - modified < 60)
        answer->modified[0] = '\0';
}

const char *answer_line(struct answer *answer, const char *line, size_t length) {
    while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == '\n'))
        length--;
    if (length == 0) {
        answer->is_complete = true;
        drop_weak_date(answer);
        return NULL;
    }
    if (memchr(line, '\0', length) != NULL)
        return "a header line of the server contains a zero byte";
    if (length >= 5 && strncmp(line, "HTTP/", 5) == 0) {
        answer_reset(answer);
        const char *code = memchr(line, ' ', length);
        if (code != NULL && length - (size_t)(code - line) >= 4)
            answer->status = strtol(code, NULL, 10);
        if (answer->status < 100 || answer->status > 999)
            return "a status line of the server has no status";
    }
    if (answer->line_count >= HEADER_LINES_MAX || answer->line_bytes + length + 1 > HEADER_BYTES_MAX)
        return "the server sent more than 200 header lines or 48 KiB of them";
    if (!keep_line(answer, line, length))
        return "there is no memory for the header lines";
    const char *violation = NULL;
    char *text = strndup(line, length);
    char *colon = text == NULL ? NULL : strchr(text, ':');
    if (colon != NULL) {
        *colon = '\0';
        char *value = colon + 1;
        value += strspn(value, " \t");
        for (size_t end = strlen(value); end > 0 && (value[end - 1] == ' ' || value[end - 1] == '\t'); end--)
            value[end - 1] = '\0';
        violation = read_field(answer, text, value);
    }
    free(text);
    return violation;
}
