#include "flow.h"
#include "partial.h"
#include "response.h"
#include "sync.h"
#include "wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* After the first record, another one is written whenever this many steps have arrived. */
#define STEPS_BETWEEN_RECORDS 64

static void note_byte(struct transfer *transfer) {
    transfer->last_byte = now_milliseconds();
    transfer->has_news = true;
}

bool flow_discard(struct transfer *transfer) {
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
    if (response->has_parts)
        return false;
    if (partial->total >= 0 && response->total >= 0 && response->total != partial->total)
        return false;
    // Without a length, the end of the file could not be told from that of a part.
    if (partial->total < 0 && response->total < 0)
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
    transfer->ignored = 0;
    wire_look(); // the next request may use another connection
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
    if (partial->size > 0 && !flow_discard(transfer))
        return false;
    partial->total = response->length;
    memcpy(partial->etag, response->etag, sizeof(partial->etag));
    memset(partial->modified, 0, sizeof(partial->modified));
    if (response_has_strong_date(response))
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

void flow_go_on(struct transfer *transfer) {
    if (!transfer->is_paused)
        return;
    transfer->is_paused = false;
    if (transfer->is_added)
        curl_easy_pause(transfer->handle, CURLPAUSE_CONT);
}

/* Keeps the answer to an upload, which its app may need: a short one in memory, a longer one in a file. */
static void keep_answer(struct transfer *transfer, const char *bytes, size_t length) {
    struct partial *partial = &transfer->partial;
    if (transfer->has_lost_answer)
        return;
    if (transfer->answer == NULL)
        transfer->answer = malloc(ANSWER_MAX);
    bool has_room = transfer->answer != NULL && length <= ANSWER_MAX - transfer->answer_length;
    if (partial->file < 0 && has_room) {
        memcpy(transfer->answer + transfer->answer_length, bytes, length);
        transfer->answer_length += length;
        return;
    }
    bool has_file =
        partial->file >= 0 || (partial_create(partial, partial->root, transfer->id) &&
                               partial_append(partial, transfer->answer, transfer->answer_length));
    transfer->has_lost_answer = !has_file || !partial_append(partial, bytes, length);
}

/* The most bytes of a body that is no download. The response alone decides how the attempt ends, and a
 * body without an end would hold its place until the transfer is cancelled. */
#define UNKEPT_MAX (1 << 20)

/* libcurl reads the body of a redirect itself, and tells only how long it is so far, after up to a hundred
 * reads. */
static int on_progress(void *context, curl_off_t total, curl_off_t length, curl_off_t all, curl_off_t sent) {
    struct transfer *transfer = context;
    (void)total, (void)all, (void)sent;
    const struct response *response = &transfer->response;
    if (!response->is_complete || !response->is_redirect || length <= transfer->ignored)
        return 0;
    int64_t count = (int64_t)length - transfer->ignored;
    transfer->ignored = (int64_t)length;
    note_byte(transfer);
    wire_count(transfer, count);
    transfer->unkept += count;
    if (transfer->unkept > UNKEPT_MAX)
        transfer_fail(transfer, END_FUTILE, "the server sent a redirect with a body of more than 1 MiB");
    else if (transfer->bundle->is_limited && transfer->bundle->left <= 0)
        transfer_fail(transfer, END_FAULTY, OUT_OF_BYTES);
    return transfer->message[0] != '\0';
}

static size_t on_body(char *bytes, size_t one, size_t length, void *context) {
    struct transfer *transfer = context;
    struct partial *partial = &transfer->partial;
    (void)one;
    if (must_pause(transfer))
        return CURL_WRITEFUNC_PAUSE;
    note_byte(transfer);
    wire_count(transfer, (int64_t)length);
    if (transfer->is_upload)
        keep_answer(transfer, bytes, length);
    // Only the body of a successful download is kept in a file.
    if (transfer->is_upload || !response_is_success(&transfer->response)) {
        transfer->unkept += (int64_t)length;
        transfer->is_cut = transfer->unkept > UNKEPT_MAX;
        transfer->has_lost_answer |= transfer->is_cut;
        return transfer->is_cut ? 0 : length;
    }
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

static long redirects(const struct transfer *transfer) {
    long count = 0;
    curl_easy_getinfo(transfer->handle, CURLINFO_REDIRECT_COUNT, &count);
    return count;
}

/* libcurl has a connection for the request, and sends it now. */
static int on_connection(void *context, char *address, char *local, int port, int local_port) {
    struct transfer *transfer = context;
    (void)address, (void)local;
    transfer->asked = redirects(transfer);
    wire_join(transfer, port, local_port);
    transfer->last_byte = now_milliseconds();
    return CURL_PREREQFUNC_OK;
}

bool flow_is_queued(const struct transfer *transfer) {
    return redirects(transfer) != transfer->asked;
}

void flow_attach(struct transfer *transfer) {
    CURL *handle = transfer->handle;
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, transfer->error);
    curl_easy_setopt(handle, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, transfer);
    wire_attach(transfer);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, transfer);
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
