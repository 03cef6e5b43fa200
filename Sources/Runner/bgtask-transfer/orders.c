#include "orders.h"
#include "places.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// clang-format off
#define U64(tag)              {tag, FIELD_U64, false, false, 0}
#define U64_REQUIRED(tag)     {tag, FIELD_U64, true, false, 0}
#define FLAG(tag)             {tag, FIELD_FLAG, false, false, 0}
#define TEXT(tag, n)          {tag, FIELD_TEXT, false, false, n}
#define TEXT_REQUIRED(tag, n) {tag, FIELD_TEXT, true, false, n}
#define BYTES(tag, n)         {tag, FIELD_BYTES, false, false, n}
#define TEXTS(tag)            {tag, FIELD_TEXT, false, true, 0}

/* The tables of Documentation/Transfers.md; each row is one entry. */
static const struct message_rule rules[] = {
    // Host to program
    {TRANSFER_BEGIN, {U64_REQUIRED(1), TEXT_REQUIRED(2, 8192), TEXT_REQUIRED(3, 32), TEXTS(4), FLAG(5), U64(6),
                      U64_REQUIRED(7), U64_REQUIRED(8), U64_REQUIRED(9), FLAG(10), TEXT_REQUIRED(11, 512),
                      TEXT_REQUIRED(12, 8192), U64_REQUIRED(13), FLAG(14), U64(15)}},
    {TRANSFER_CANCEL, {U64_REQUIRED(1)}},
    {TRANSFER_PROMOTE, {U64_REQUIRED(1)}},
    {TRANSFER_ALLOW, {TEXT_REQUIRED(1, 512), U64(2)}},
    // Program to host
    {TRANSFER_HELLO, {U64_REQUIRED(1)}},
    {TRANSFER_RESPONSE, {U64_REQUIRED(1), U64_REQUIRED(2), U64(3), TEXT(7, HEADER_BYTES_MAX), TEXT(8, 8192),
                         FLAG(9)}},
    {TRANSFER_PROGRESS, {U64_REQUIRED(1), U64_REQUIRED(2), U64(3), U64_REQUIRED(4), U64_REQUIRED(5),
                         U64_REQUIRED(6)}},
    {TRANSFER_ENDED, {U64_REQUIRED(1), U64_REQUIRED(2), U64_REQUIRED(3), U64_REQUIRED(4), U64_REQUIRED(5),
                      U64(6), U64(7), TEXT(8, 1024), U64(9), U64_REQUIRED(10), TEXT(11, 320),
                      BYTES(12, ANSWER_MAX), FLAG(13), FLAG(14)}},
    {TRANSFER_ALIVE, {{0}}},
    {TRANSFER_FAILED, {TEXT_REQUIRED(1, 1024)}},
    {TRANSFER_BEGAN, {U64_REQUIRED(1)}},
};
// clang-format on

const struct message_rule pending_request_rule = {0, {{0}}};

const struct message_rule *message_rule_of(uint8_t kind) {
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].kind == kind)
            return &rules[i];
    return NULL;
}

/* MARK: Reports */

static struct frame_writer writer; // only the main thread reports

static uint64_t cpu_microseconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* The loop sends the reports of one pass together. */
static void send_report(struct outbox *outbox) {
    outbox_queue(outbox, &writer, NULL, 0);
}

void report_hello(struct outbox *outbox) {
    frame_begin(&writer, TRANSFER_HELLO);
    frame_add_number(&writer, 1, TRANSFER_PROTOCOL_VERSION);
    send_report(outbox);
}

/* The length of the complete file, or of the file to send; -1 if it is not known. */
static int64_t expected(const struct transfer *transfer) {
    return transfer->is_upload ? transfer->upload_length : transfer->partial.total;
}

void report_response(struct outbox *outbox, const struct transfer *transfer, bool is_whole) {
    const struct response *response = &transfer->response;
    char *address = NULL;
    curl_easy_getinfo(transfer->handle, CURLINFO_EFFECTIVE_URL, &address);
    frame_begin(&writer, TRANSFER_RESPONSE);
    frame_add_number(&writer, 1, transfer->id);
    frame_add_number(&writer, 2, (uint64_t)response->status);
    if (expected(transfer) >= 0)
        frame_add_number(&writer, 3, (uint64_t)expected(transfer));
    if (response->lines != NULL)
        frame_add_text(&writer, 7, response->lines, HEADER_BYTES_MAX);
    if (address != NULL)
        frame_add_text(&writer, 8, address, 8192);
    if (is_whole)
        frame_add_flag(&writer, 9, true);
    send_report(outbox);
}

void report_began(struct outbox *outbox, const struct transfer *transfer) {
    frame_begin(&writer, TRANSFER_BEGAN);
    frame_add_number(&writer, 1, transfer->id);
    send_report(outbox);
}

void report_progress(struct outbox *outbox, const struct transfer *transfer) {
    frame_begin(&writer, TRANSFER_PROGRESS);
    frame_add_number(&writer, 1, transfer->id);
    frame_add_number(&writer, 2,
                     (uint64_t)(transfer->is_upload ? transfer->upload_at : transfer->partial.size));
    if (expected(transfer) >= 0)
        frame_add_number(&writer, 3, (uint64_t)expected(transfer));
    frame_add_number(&writer, 4, (uint64_t)transfer->received);
    frame_add_number(&writer, 5, (uint64_t)transfer->sent);
    frame_add_number(&writer, 6, cpu_microseconds());
    send_report(outbox);
}

void report_ended(struct outbox *outbox, const struct transfer *transfer) {
    frame_begin(&writer, TRANSFER_ENDED);
    frame_add_number(&writer, 1, transfer->id);
    frame_add_number(&writer, 2, transfer->end_kind);
    frame_add_number(&writer, 3, (uint64_t)transfer->partial.size);
    frame_add_number(&writer, 4, (uint64_t)transfer->received);
    frame_add_number(&writer, 5, (uint64_t)transfer->sent);
    if (transfer->response.status > 0)
        frame_add_number(&writer, 6, (uint64_t)transfer->response.status);
    if (transfer->code != CURLE_OK)
        frame_add_number(&writer, 7, (uint64_t)transfer->code);
    if (transfer->message[0] != '\0')
        frame_add_text(&writer, 8, transfer->message, 1024);
    if (transfer->response.retry_after >= 0)
        frame_add_number(&writer, 9, (uint64_t)transfer->response.retry_after);
    frame_add_number(&writer, 10, cpu_microseconds());
    if (transfer->metrics[0] != '\0')
        frame_add_text(&writer, 11, transfer->metrics, sizeof(transfer->metrics));
    bool is_answered = transfer->end_kind == END_FINISHED || transfer->end_kind == END_REFUSED;
    if (is_answered && transfer->is_upload) {
        if (transfer->has_lost_answer)
            frame_add_flag(&writer, 14, true);
        else if (transfer->partial.file >= 0)
            frame_add_flag(&writer, 13, true);
        else if (transfer->answer_length > 0)
            frame_add_bytes(&writer, 12, transfer->answer, transfer->answer_length);
    }
    send_report(outbox);
}

void report_alive(struct outbox *outbox) {
    // Signs that wait say nothing new.
    if (outbox_waits(outbox))
        return;
    frame_begin(&writer, TRANSFER_ALIVE);
    send_report(outbox);
}

void report_failed(struct outbox *outbox, const char *message) {
    frame_begin(&writer, TRANSFER_FAILED);
    frame_add_text(&writer, 1, message, 1024);
    outbox_send(outbox, &writer, NULL, 0); // the program ends now
}

/* MARK: Orders */

/* Appends a copy of a header line. */
static bool add_header(struct transfer *transfer, struct value value) {
    char *text = strndup((const char *)value.bytes, value.length);
    struct curl_slist *list = text == NULL ? NULL : curl_slist_append(transfer->headers, text);
    free(text);
    if (list != NULL)
        transfer->headers = list;
    return list != NULL;
}

static bool add_headers(struct transfer *transfer, struct body body) {
    uint8_t tag;
    struct value value;
    for (size_t at = 0; body_next(body, &at, &tag, &value);)
        if (tag == 4 && !add_header(transfer, value))
            return false;
    return true;
}

/* Notes whose transfer it is, and how many bytes the bundle may move, unless that is known. */
static bool join_parties(struct transfer *transfer, struct body body) {
    char *bundle = body_text(body, 11), *server = body_text(body, 12);
    bool done = bundle != NULL && server != NULL && places_join(transfer, bundle, server);
    free(bundle);
    free(server);
    uint64_t left = body_number(body, 15, UINT64_MAX);
    if (done && left <= INT64_MAX && !transfer->bundle->is_limited) {
        transfer->bundle->is_limited = true;
        transfer->bundle->left = transfer->bundle->granted = (int64_t)left;
    }
    return done;
}

struct transfer *order_read(struct body body, int upload) {
    struct transfer *transfer = calloc(1, sizeof(*transfer));
    if (transfer == NULL)
        return NULL;
    transfer->id = body_number(body, 1, 0);
    transfer->url = body_text(body, 2);
    transfer->method = body_text(body, 3);
    transfer->is_upload = body_number(body, 5, 0) != 0;
    transfer->upload = upload;
    transfer->upload_length = transfer->is_upload ? (int64_t)body_number(body, 6, 0) : -1;
    transfer->stall_limit = (int64_t)body_number(body, 7, 60000);
    transfer->progress_interval = (int64_t)body_number(body, 8, 250);
    transfer->record_step = (int64_t)body_number(body, 9, 1 << 20);
    transfer->response.retry_after = -1;
    transfer->partial = (struct partial){.file = -1, .total = -1, .is_kept = body_number(body, 10, 0) != 0};
    transfer->wire_socket = -1;
    transfer->wire = -1;
    transfer->rank = body_number(body, 13, 0);
    transfer->is_reserved = body_number(body, 14, 0) != 0 && !transfer->is_upload;
    if (transfer->url != NULL && transfer->method != NULL && join_parties(transfer, body) &&
        add_headers(transfer, body))
        return transfer;
    transfer->upload = -1; // the caller closes it
    transfer_free(transfer);
    return NULL;
}
