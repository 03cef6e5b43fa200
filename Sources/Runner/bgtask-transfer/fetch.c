#include "fetch.h"
#include "flow.h"
#include "partial.h"
#include "response.h"

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

/* How many bytes one read of the network brings at most; fewer for bundles with a limit. */
#define READ_MOST (512L * 1024L)
#define READ_LIMITED (16L * 1024L)

/* MARK: The request */

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
    transfer->has_lost_answer = false;
    if (transfer->is_upload)
        partial_close(&transfer->partial);
    transfer->given = -1;
    if (transfer->is_upload && !look_at_upload(transfer, &transfer->upload_facts)) {
        transfer_fail(transfer, END_FAULTY, FILE_CHANGED);
        return false;
    }
    response_reset(&transfer->response);
    transfer->unkept = transfer->ignored = 0;
    transfer->is_cut = false;
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
    flow_attach(transfer);
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

/* Whether the answer to an upload is in a file that must become durable. */
static bool has_answer_file(const struct transfer *transfer) {
    return transfer->is_upload && transfer->partial.file >= 0 && !transfer->has_lost_answer;
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
    flow_discard(transfer);
    return false;
}

bool fetch_ended(struct transfer *transfer, CURLcode code) {
    if (transfer->is_cut && code == CURLE_WRITE_ERROR)
        code = CURLE_OK;
    transfer->code = code;
    if (transfer->must_restart) {
        if (++transfer->restarts <= RESTARTS_MAX && flow_discard(transfer))
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
        return has_answer_file(transfer);
    }
    if (!transfer->is_upload && response_has_no_file(&transfer->response)) {
        transfer_fail(transfer, END_REFUSED, "the server answered with status %ld, which has no file",
                      transfer->response.status);
        return false;
    }
    if (transfer->is_upload) {
        if (!is_sent(transfer))
            return false;
        transfer->end_kind = END_FINISHED;
        return has_answer_file(transfer);
    }
    return complete_download(transfer);
}
