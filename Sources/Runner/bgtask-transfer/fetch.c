#include "fetch.h"
#include "partial.h"
#include "response.h"
#include "sync.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* How often a server may answer a request for the rest with other bytes before the attempt ends. */
#define RESTARTS_MAX 3u
/* After the first record, another one is written whenever this many steps have arrived. */
#define STEPS_BETWEEN_RECORDS 64

/* How many bytes one read of the network brings at most; fewer for bundles with a limit. */
#define READ_MOST (512L * 1024L)
#define READ_LIMITED (16L * 1024L)

/* Why an upload fails whose file is not what it was when the attempt began. */
#define FILE_CHANGED "the file changed while it was sent"

/* MARK: Callbacks */

static void note_byte(struct transfer *transfer) {
    transfer->last_byte = now_milliseconds();
    transfer->has_news = true;
}

/* Forgets the file, if that is possible. */
static bool discard(struct transfer *transfer) {
    sync_forbid(transfer);
    if (partial_discard(&transfer->partial))
        return true;
    transfer_fail(transfer, END_FAULTY, "the unfinished file can't be emptied: %s", strerror(errno));
    return false;
}

/* Whether a 206 continues the file at hand. */
static bool continues(const struct transfer *transfer) {
    const struct response *response = &transfer->response;
    const struct partial *partial = &transfer->partial;
    if (transfer->resumed_from == 0 || response->first != transfer->resumed_from)
        return false;
    if (partial->total >= 0 && response->total >= 0 && response->total != partial->total)
        return false;
    // A server that ignores If-Range sends the part of any version.
    if (partial->etag[0] != '\0' && strcmp(partial->etag, response->etag) != 0)
        return false;
    if (partial->etag[0] == '\0' && response->modified[0] != '\0' &&
        strcmp(partial->modified, response->modified) != 0)
        return false;
    return response->length < 0 || response->total < 0 ||
           response->first + response->length == response->total;
}

/* Handles the end of the header lines of a redirect: the next request may be a GET without a body. libcurl
 * does this, too, but keeps a method that it does not know itself. */
static void follow_redirect(struct transfer *transfer) {
    long status = transfer->response.status;
    bool is_post = strcmp(transfer->method, "POST") == 0;
    if (strcmp(transfer->method, "HEAD") == 0 || (status != 303 && !(is_post && status < 303)))
        return;
    curl_easy_setopt(transfer->handle, CURLOPT_CUSTOMREQUEST, NULL);
    if (transfer->given < 0)
        transfer->given = transfer->upload_at;
}

/* Whether a response says that the condition of the request was not met, or that it has no file. A request
 * for the whole file, without a condition, may get one. */
static bool has_no_rest(const struct response *response) {
    long status = response->status;
    return response_has_no_file(response) || status == 304 || status == 412 || status == 416;
}

/* Handles the end of the header lines of a response that is not a redirect: decides where its body goes. */
static bool accept_response(struct transfer *transfer) {
    const struct response *response = &transfer->response;
    struct partial *partial = &transfer->partial;
    if (transfer->resumed_from > 0 && has_no_rest(response)) {
        transfer->must_restart = true;
        return false;
    }
    if (transfer->is_upload || !response_is_success(response) || response_has_no_file(response))
        return true;
    if (response->status == 206) {
        if (continues(transfer)) {
            if (partial->total < 0)
                partial->total = response->total;
            return true;
        }
        transfer->must_restart = transfer->resumed_from > 0;
        if (!transfer->must_restart)
            transfer_fail(transfer, END_FAULTY,
                          "the server sent a part of the file, although the request was for all of it");
        return false;
    }
    if (partial->size > 0 && !discard(transfer))
        return false;
    partial->total = response->length;
    memcpy(partial->etag, response->etag, sizeof(partial->etag));
    memcpy(partial->modified, response->modified, sizeof(partial->modified));
    return true;
}

static size_t on_header(char *line, size_t one, size_t length, void *context) {
    struct transfer *transfer = context;
    (void)one;
    note_byte(transfer);
    // Lines after the body (trailers) say nothing about the file.
    bool is_trailer = transfer->response.is_complete && (length < 5 || strncmp(line, "HTTP/", 5) != 0);
    const char *violation = is_trailer ? response_count(&transfer->response, length)
                                       : response_line(&transfer->response, line, length);
    if (violation != NULL) {
        transfer_fail(transfer, END_FUTILE, "%s", violation);
        return 0;
    }
    if (is_trailer)
        return length;
    const struct response *response = &transfer->response;
    if (response->is_complete && response->is_redirect)
        follow_redirect(transfer);
    bool is_final = response->is_complete && response->status >= 200 && !response->is_redirect;
    return !is_final || accept_response(transfer) ? length : 0;
}

/* Whether the bundle may move no more bytes now. */
static bool must_pause(struct transfer *transfer) {
    transfer->is_paused = transfer->bundle->is_limited && transfer->bundle->left <= 0;
    transfer->has_news |= transfer->is_paused;
    return transfer->is_paused;
}

void fetch_go_on(struct transfer *transfer) {
    if (!transfer->is_paused)
        return;
    transfer->is_paused = false;
    if (transfer->is_added)
        curl_easy_pause(transfer->handle, CURLPAUSE_CONT);
}

/* Keeps the answer to an upload, which its app may need. */
static void keep_answer(struct transfer *transfer, const char *bytes, size_t length) {
    if (transfer->answer == NULL)
        transfer->answer = malloc(ANSWER_MAX);
    bool has_room = transfer->answer != NULL && transfer->answer_length <= ANSWER_MAX &&
                    length <= ANSWER_MAX - transfer->answer_length;
    if (has_room)
        memcpy(transfer->answer + transfer->answer_length, bytes, length);
    transfer->answer_length = has_room ? transfer->answer_length + length : ANSWER_MAX + 1;
}

static size_t on_body(char *bytes, size_t one, size_t length, void *context) {
    struct transfer *transfer = context;
    struct partial *partial = &transfer->partial;
    (void)one;
    if (must_pause(transfer))
        return CURL_WRITEFUNC_PAUSE;
    note_byte(transfer);
    transfer->received += (int64_t)length;
    transfer->bundle->left -= (int64_t)length;
    if (transfer->is_upload)
        keep_answer(transfer, bytes, length);
    // Only the body of a successful download is kept in a file.
    if (transfer->is_upload || !response_is_success(&transfer->response))
        return length;
    if (!partial_append(partial, bytes, length)) {
        transfer_fail(transfer, END_FAULTY, "the file can't be written: %s", strerror(errno));
        return 0;
    }
    int64_t step = transfer->record_step * (partial->has_record ? STEPS_BETWEEN_RECORDS : 1);
    bool has_validator = partial->etag[0] != '\0' || partial->modified[0] != '\0';
    if (has_validator && !transfer->is_syncing && partial->size - partial->recorded >= step) {
        partial->has_record = true;
        partial->recorded = partial->size;
        sync_add(transfer, SYNC_RECORD);
    }
    return length;
}

static size_t on_upload(char *buffer, size_t one, size_t size, void *context) {
    struct transfer *transfer = context;
    int64_t left = transfer->upload_length - transfer->upload_at;
    (void)one;
    if (left > 0 && must_pause(transfer))
        return CURL_READFUNC_PAUSE;
    if (transfer->bundle->is_limited && transfer->bundle->left < left)
        left = transfer->bundle->left > 0 ? transfer->bundle->left : 0;
    if ((int64_t)size > left)
        size = (size_t)left;
    ssize_t count = size == 0 ? 0 : pread(transfer->upload, buffer, size, transfer->upload_at);
    if (count < 0 || (count == 0 && size > 0)) {
        if (count < 0)
            transfer_fail(transfer, END_FUTILE, "the file to send can't be read: %s", strerror(errno));
        else
            transfer_fail(transfer, END_FAULTY, FILE_CHANGED);
        return CURL_READFUNC_ABORT;
    }
    transfer->upload_at += count;
    transfer->sent += count;
    transfer->bundle->left -= count;
    note_byte(transfer);
    return (size_t)count;
}

/* libcurl sends the file again after a redirect, or on another connection. */
static int on_rewind(void *context, curl_off_t offset, int origin) {
    struct transfer *transfer = context;
    if (origin != SEEK_SET || offset < 0 || offset > transfer->upload_length)
        return CURL_SEEKFUNC_FAIL;
    transfer->upload_at = offset;
    return CURL_SEEKFUNC_OK;
}

/* MARK: The request */

static long redirects(const struct transfer *transfer) {
    long count = 0;
    curl_easy_getinfo(transfer->handle, CURLINFO_REDIRECT_COUNT, &count);
    return count;
}

/* libcurl has a connection for the request, and sends it now. */
static int on_connection(void *context, char *address, char *local, int port, int local_port) {
    struct transfer *transfer = context;
    (void)address, (void)local, (void)port, (void)local_port;
    transfer->asked = redirects(transfer);
    transfer->last_byte = now_milliseconds();
    return CURL_PREREQFUNC_OK;
}

bool fetch_is_queued(const struct transfer *transfer) {
    return redirects(transfer) != transfer->asked;
}

static bool has_header(const struct transfer *transfer, const char *name) {
    size_t length = strlen(name);
    for (const struct curl_slist *header = transfer->headers; header != NULL; header = header->next)
        if (strncasecmp(header->data, name, length) == 0 && strchr(":;", header->data[length]) != NULL)
            return true;
    return false;
}

/* The header lines that belong to the program; they are added once. */
static bool add_own_headers(struct transfer *transfer) {
    struct curl_slist *list = transfer->headers;
    if (!has_header(transfer, "Accept-Encoding")) {
        // The rest of a file can be requested only of the file itself, not of a compressed form.
        list = curl_slist_append(list, "Accept-Encoding: identity");
        if (list == NULL)
            return false;
        transfer->headers = list;
    }
    if (!has_header(transfer, "Content-Type")) {
        // libcurl would say of a POST that it is a form.
        list = curl_slist_append(list, "Content-Type:");
        if (list == NULL)
            return false;
        transfer->headers = list;
    }
    return true;
}

/* Asks for the rest of the file. The server sends all of it if it has changed. */
static bool ask_for_rest(struct transfer *transfer, struct curl_slist **headers) {
    struct partial *partial = &transfer->partial;
    char line[VALIDATOR_MAX + 64];
    snprintf(line, sizeof(line), "Range: bytes=%" PRId64 "-", partial->size);
    struct curl_slist *list = curl_slist_append(*headers, line);
    if (list == NULL)
        return false;
    *headers = list;
    snprintf(line, sizeof(line), "If-Range: %s",
             partial->etag[0] != '\0' ? partial->etag : partial->modified);
    return curl_slist_append(*headers, line) != NULL;
}

static void set_limits(struct transfer *transfer) {
    CURL *handle = transfer->handle;
    // Only these two schemes, also after a redirect.
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(handle, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
    curl_easy_setopt(handle, CURLOPT_HTTP_CONTENT_DECODING, 0L);
    // The answer of a proxy to CONNECT is not the answer of the server.
    curl_easy_setopt(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    // Until a connection is there, only this limit counts.
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, (long)transfer->stall_limit);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
    // What one read brings is the most that a bundle moves beyond its bytes, and that a pause holds back.
    curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, transfer->bundle->is_limited ? READ_LIMITED : READ_MOST);
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "bgtask");
}

static void set_callbacks(struct transfer *transfer) {
    CURL *handle = transfer->handle;
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, transfer->error);
    curl_easy_setopt(handle, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, on_connection);
    curl_easy_setopt(handle, CURLOPT_PREREQDATA, transfer);
    if (!transfer->is_upload)
        return;
    if (strcmp(transfer->method, "POST") == 0) {
        // Unlike UPLOAD with another method, this becomes a GET where a redirect asks for it.
        curl_easy_setopt(handle, CURLOPT_POST, 1L);
        curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)transfer->upload_length);
    } else {
        curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, (curl_off_t)transfer->upload_length);
    }
    curl_easy_setopt(handle, CURLOPT_READFUNCTION, on_upload);
    curl_easy_setopt(handle, CURLOPT_READDATA, transfer);
    curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, on_rewind);
    curl_easy_setopt(handle, CURLOPT_SEEKDATA, transfer);
    curl_easy_setopt(handle, CURLOPT_UPLOAD_BUFFERSIZE, 512L * 1024L);
}

/* Looks at the file to send; false if it has not the length that is announced. */
static bool look_at_upload(const struct transfer *transfer, struct stat *facts) {
    // The descriptor stays that of the same file, whatever its name becomes.
    return fstat(transfer->upload, facts) == 0 && facts->st_size == transfer->upload_length;
}

static bool is_same_time(struct timespec one, struct timespec other) {
    return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

/* Whether the file to send was changed since the attempt began. */
static bool has_changed(const struct transfer *transfer) {
    const struct stat *before = &transfer->upload_facts;
    struct stat now;
    if (!look_at_upload(transfer, &now) || !is_same_time(now.st_mtim, before->st_mtim))
        return true;
    // A program can put the time of the contents back, but not that of the inode. The latter also changes
    // with the number of names: who removes the file meanwhile does not change its bytes.
    return now.st_nlink == before->st_nlink && !is_same_time(now.st_ctim, before->st_ctim);
}

bool fetch_begin(CURLM *multi, struct transfer *transfer) {
    if (transfer->handle == NULL)
        transfer->handle = curl_easy_init();
    struct curl_slist *headers = NULL;
    bool is_ready = transfer->handle != NULL && add_own_headers(transfer);
    for (const struct curl_slist *line = transfer->headers; is_ready && line != NULL; line = line->next) {
        struct curl_slist *list = curl_slist_append(headers, line->data);
        is_ready = list != NULL;
        headers = is_ready ? list : headers;
    }
    transfer->must_restart = transfer->has_reported_response = false;
    transfer->asked = -1;
    transfer->is_paused = false;
    transfer->response_at = 0;
    transfer->message[0] = transfer->error[0] = '\0';
    transfer->upload_at = 0;
    transfer->answer_length = 0;
    transfer->given = -1;
    if (transfer->is_upload && !look_at_upload(transfer, &transfer->upload_facts)) {
        transfer_fail(transfer, END_FAULTY, FILE_CHANGED);
        return false;
    }
    response_reset(&transfer->response);
    transfer->resumed_from = partial_can_resume(&transfer->partial) ? transfer->partial.size : 0;
    if (is_ready && transfer->resumed_from > 0)
        is_ready = ask_for_rest(transfer, &headers);
    if (!is_ready) {
        curl_slist_free_all(headers);
        transfer_fail(transfer, END_FAULTY, "there is no memory for the request");
        return false;
    }
    curl_slist_free_all(transfer->sending);
    transfer->sending = headers;
    curl_easy_reset(transfer->handle);
    curl_easy_setopt(transfer->handle, CURLOPT_URL, transfer->url);
    set_limits(transfer);
    set_callbacks(transfer);
    if (strcmp(transfer->method, "HEAD") == 0)
        curl_easy_setopt(transfer->handle, CURLOPT_NOBODY, 1L);
    else if (strcmp(transfer->method, transfer->is_upload ? "PUT" : "GET") != 0 &&
             !(transfer->is_upload && strcmp(transfer->method, "POST") == 0))
        curl_easy_setopt(transfer->handle, CURLOPT_CUSTOMREQUEST, transfer->method);
    curl_easy_setopt(transfer->handle, CURLOPT_HTTPHEADER, headers);
    transfer->last_byte = now_milliseconds();
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    transfer->began = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    transfer->metrics[0] = '\0';
    CURLMcode code = curl_multi_add_handle(multi, transfer->handle);
    transfer->is_added = code == CURLM_OK;
    if (!transfer->is_added)
        transfer_fail(transfer, END_FAULTY, "libcurl refused the request: %s", curl_multi_strerror(code));
    return transfer->is_added;
}

static int64_t number_of(CURL *handle, CURLINFO what) {
    curl_off_t value = 0;
    return curl_easy_getinfo(handle, what, &value) == CURLE_OK && value > 0 ? (int64_t)value : 0;
}

static long count_of(CURL *handle, CURLINFO what) {
    long value = 0;
    return curl_easy_getinfo(handle, what, &value) == CURLE_OK && value > 0 ? value : 0;
}

static const char *address_of(CURL *handle, CURLINFO what) {
    char *text = NULL;
    bool is_known = curl_easy_getinfo(handle, what, &text) == CURLE_OK && text != NULL && text[0] != '\0' &&
                    strlen(text) <= 64 && strchr(text, ' ') == NULL;
    return is_known ? text : "-";
}

void fetch_measure(struct transfer *transfer) {
    CURL *handle = transfer->handle;
    static const long versions[] = {
        [CURL_HTTP_VERSION_1_0] = 10, [CURL_HTTP_VERSION_1_1] = 11, [CURL_HTTP_VERSION_2_0] = 20};
    long version = count_of(handle, CURLINFO_HTTP_VERSION);
    long known = version < (long)(sizeof(versions) / sizeof(versions[0])) ? versions[version] : 30;
    snprintf(transfer->metrics, sizeof(transfer->metrics),
             "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
             " %ld %ld %d %ld %ld %s %ld %s %ld",
             transfer->began, number_of(handle, CURLINFO_NAMELOOKUP_TIME_T),
             number_of(handle, CURLINFO_CONNECT_TIME_T), number_of(handle, CURLINFO_APPCONNECT_TIME_T),
             number_of(handle, CURLINFO_PRETRANSFER_TIME_T), number_of(handle, CURLINFO_STARTTRANSFER_TIME_T),
             number_of(handle, CURLINFO_TOTAL_TIME_T), count_of(handle, CURLINFO_REDIRECT_COUNT), known,
             count_of(handle, CURLINFO_NUM_CONNECTS) == 0, count_of(handle, CURLINFO_HEADER_SIZE),
             count_of(handle, CURLINFO_REQUEST_SIZE), address_of(handle, CURLINFO_PRIMARY_IP),
             count_of(handle, CURLINFO_PRIMARY_PORT), address_of(handle, CURLINFO_LOCAL_IP),
             count_of(handle, CURLINFO_LOCAL_PORT));
}

void fetch_stop(CURLM *multi, struct transfer *transfer) {
    if (transfer->is_added)
        curl_multi_remove_handle(multi, transfer->handle);
    transfer->is_added = false;
}

/* MARK: The end */

/* Whether another attempt would end in the same way. */
static bool is_final(CURLcode code, const char *error) {
    switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
        // libcurl also uses this code if a response begins with something else, as after a wrong length.
        return strncmp(error, "Received HTTP/", 14) != 0;
    case CURLE_URL_MALFORMAT:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_BAD_FUNCTION_ARGUMENT:
    case CURLE_LOGIN_DENIED:
        return true;
    default:
        return false;
    }
}

/* Whether libcurl gave up because a header line is longer than what it keeps of one, 100 KiB. Older versions
 * say that there is no memory; newer ones have the code 100, "too large". */
static bool is_long_line(const struct transfer *transfer, CURLcode code) {
    const struct response *response = &transfer->response;
    bool has_final = response->is_complete && response->status >= 200 && !response->is_redirect;
    return transfer->asked >= 0 && !has_final && (code == CURLE_OUT_OF_MEMORY || (int)code == 100);
}

/* Whether the server, which has accepted an upload, got the whole file as it was and is. */
static bool is_sent(struct transfer *transfer) {
    if ((transfer->given < 0 ? transfer->upload_at : transfer->given) < transfer->upload_length) {
        transfer_fail(transfer, END_FAULTY, "the server answered before it had received the file");
        return false;
    }
    if (has_changed(transfer))
        transfer_fail(transfer, END_FAULTY, FILE_CHANGED);
    return transfer->message[0] == '\0';
}

static bool complete_download(struct transfer *transfer) {
    const struct partial *partial = &transfer->partial;
    if (partial->total < 0 || partial->size == partial->total) {
        transfer->end_kind = END_FINISHED;
        return true;
    }
    transfer_fail(transfer, END_FAULTY, "the server sent %" PRId64 " bytes of a file of %" PRId64,
                  partial->size, partial->total);
    discard(transfer);
    return false;
}

bool fetch_ended(struct transfer *transfer, CURLcode code) {
    transfer->code = code;
    if (transfer->must_restart) {
        if (++transfer->restarts <= RESTARTS_MAX && discard(transfer))
            return false;
        transfer->must_restart = false;
        transfer_fail(transfer, END_FAULTY,
                      "the server answered %u requests for the rest of the file with other parts",
                      transfer->restarts);
        return false;
    }
    if (transfer->message[0] != '\0')
        return false;
    if (is_long_line(transfer, code)) {
        transfer_fail(transfer, END_FUTILE, HEADERS_REFUSED);
        return false;
    }
    if (code != CURLE_OK) {
        const char *text = transfer->error[0] != '\0' ? transfer->error : curl_easy_strerror(code);
        transfer_fail(transfer, is_final(code, text) ? END_FUTILE : END_FAULTY, "%s", text);
        return false;
    }
    if (response_is_busy(&transfer->response)) {
        transfer_fail(transfer, END_BUSY, "the server answered with status %ld", transfer->response.status);
        return false;
    }
    if (!response_is_success(&transfer->response)) {
        transfer_fail(transfer, END_REFUSED, "the server answered with status %ld",
                      transfer->response.status);
        return false;
    }
    if (!transfer->is_upload && response_has_no_file(&transfer->response)) {
        transfer_fail(transfer, END_REFUSED, "the server answered with status %ld, which has no file",
                      transfer->response.status);
        return false;
    }
    if (transfer->is_upload) {
        if (is_sent(transfer))
            transfer->end_kind = END_FINISHED;
        return false;
    }
    return complete_download(transfer);
}
