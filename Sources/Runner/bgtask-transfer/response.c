#include "response.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void response_reset(struct response *response) {
    free(response->lines);
    *response = (struct response){.length = -1, .first = -1, .total = -1, .date = -1, .retry_after = -1};
}

bool response_is_success(const struct response *response) {
    return response->status >= 200 && response->status < 300;
}

bool response_is_busy(const struct response *response) {
    long status = response->status;
    return (status >= 500 && status < 600) || status == 408 || status == 425 || status == 429;
}

bool response_has_no_file(const struct response *response) {
    return response->status == 204 || response->status == 205;
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
static void read_range(struct response *response, const char *text) {
    if (strncasecmp(text, "bytes ", 6) != 0)
        return;
    text += 6;
    int64_t first = read_number(&text);
    if (first < 0 || *text++ != '-')
        return;
    int64_t last = read_number(&text);
    if (last < first || *text++ != '/')
        return;
    response->first = first;
    int64_t total = *text == '*' ? -1 : read_number(&text);
    if (total > last)
        response->total = total;
}

/* Retry-After is a number of seconds or a date. */
static int64_t read_delay(const struct response *response, const char *text) {
    const char *at = text;
    int64_t seconds = read_number(&at);
    if (seconds >= 0)
        return seconds;
    time_t date = curl_getdate(text, NULL), base = response->date >= 0 ? response->date : time(NULL);
    return date >= base ? (int64_t)(date - base) : -1;
}

static bool keep_line(struct response *response, const char *line, size_t length) {
    char *lines = realloc(response->lines, response->line_bytes + length + 2);
    if (lines == NULL)
        return false;
    memcpy(lines + response->line_bytes, line, length);
    response->lines = lines;
    response->line_bytes += length;
    lines[response->line_bytes++] = '\n';
    lines[response->line_bytes] = '\0';
    return true;
}

const char *response_count(struct response *response, size_t length) {
    response->seen_lines++;
    response->seen_bytes += length + 1;
    bool is_within = response->seen_lines <= HEADER_LINES_MAX && response->seen_bytes <= HEADER_BYTES_MAX;
    return is_within ? NULL : HEADERS_REFUSED;
}

/* Begins another response. The lines of interim ones count for the final one: a server can send them without
 * end. */
static void begin_response(struct response *response) {
    bool is_interim = response->status >= 100 && response->status < 200;
    size_t lines = response->seen_lines, bytes = response->seen_bytes;
    response_reset(response);
    if (is_interim) {
        response->seen_lines = lines;
        response->seen_bytes = bytes;
    }
}

static void copy(char *to, size_t size, const char *from) {
    size_t length = strlen(from);
    if (length < size)
        memcpy(to, from, length + 1);
}

/* Reads a length, which may be there several times, also in one line, but only with the same value: which
 * bytes are the file would otherwise be a guess. Returns NULL, or why the response is refused. */
static const char *read_length(struct response *response, const char *text) {
    for (;;) {
        int64_t length = read_number(&text);
        text += strspn(text, " \t");
        if (length < 0 || (*text != '\0' && *text != ','))
            return "the server sent a length that is not a number of bytes";
        if (response->length >= 0 && response->length != length)
            return "the server sent two different lengths";
        response->length = length;
        if (*text == '\0')
            return NULL;
        text++;
        text += strspn(text, " \t");
    }
}

/* Reads one field. Returns NULL, or why the response is refused. */
static const char *read_field(struct response *response, const char *name, const char *value) {
    if (strcasecmp(name, "Transfer-Encoding") == 0) {
        // libcurl would decompress the body, to any length.
        if (strcasecmp(value, "chunked") != 0 && strcasecmp(value, "identity") != 0)
            return "the server used a transfer encoding that was not requested";
    } else if (strcasecmp(name, "Content-Length") == 0) {
        return read_length(response, value);
    } else if (strcasecmp(name, "Content-Type") == 0) {
        response->has_parts |= strncasecmp(value, "multipart/byteranges", 20) == 0;
    } else if (strcasecmp(name, "Content-Range") == 0) {
        read_range(response, value);
    } else if (strcasecmp(name, "ETag") == 0) {
        // A weak one does not promise the same bytes.
        if (value[0] == '"')
            copy(response->etag, sizeof(response->etag), value);
    } else if (strcasecmp(name, "Last-Modified") == 0) {
        copy(response->modified, sizeof(response->modified), value);
    } else if (strcasecmp(name, "Date") == 0) {
        response->date = curl_getdate(value, NULL);
    } else if (strcasecmp(name, "Retry-After") == 0) {
        response->retry_after = read_delay(response, value);
    } else if (strcasecmp(name, "Location") == 0) {
        // Those that libcurl follows.
        response->is_redirect = response->status >= 300 && response->status < 400;
    }
    return NULL;
}

bool response_has_strong_date(const struct response *response) {
    time_t modified = response->modified[0] == '\0' ? -1 : curl_getdate(response->modified, NULL);
    return modified >= 0 && response->date >= 0 && response->date - modified >= 60;
}

const char *response_line(struct response *response, const char *line, size_t length) {
    while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == '\n'))
        length--;
    if (length == 0) {
        response->is_complete = true;
        return NULL;
    }
    if (memchr(line, '\0', length) != NULL)
        return "a header line of the server contains a zero byte";
    if (length >= 5 && strncmp(line, "HTTP/", 5) == 0) {
        begin_response(response);
        const char *code = memchr(line, ' ', length);
        if (code != NULL && length - (size_t)(code - line) >= 4)
            response->status = strtol(code, NULL, 10);
        if (response->status < 100 || response->status > 999)
            return "a status line of the server has no status";
    }
    const char *violation = response_count(response, length);
    if (violation != NULL)
        return violation;
    if (!keep_line(response, line, length))
        return "there is no memory for the header lines";
    char *text = strndup(line, length);
    char *colon = text == NULL ? NULL : strchr(text, ':');
    if (colon != NULL) {
        *colon = '\0';
        char *value = colon + 1;
        value += strspn(value, " \t");
        for (size_t end = strlen(value); end > 0 && (value[end - 1] == ' ' || value[end - 1] == '\t'); end--)
            value[end - 1] = '\0';
        violation = read_field(response, text, value);
    }
    free(text);
    return violation;
}
