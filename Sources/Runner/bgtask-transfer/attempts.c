#include "attempts.h"
#include "fetch.h"
#include "partial.h"
#include "places.h"
#include "sync.h"
#include "wire.h"

#include <errno.h>
#include <string.h>

static struct transfer *transfers;
static CURLM *multi;
static int root;
static struct outbox *outbox;

static struct transfer **place_of(uint64_t id) {
    struct transfer **at = &transfers;
    while (*at != NULL && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

struct transfer *attempt_find(uint64_t id) {
    return *place_of(id);
}

struct transfer *attempts(void) {
    return transfers;
}

void attempt_end(struct transfer *transfer) {
    fetch_stop(multi, transfer);
    transfer->is_ending = true;
    if (transfer->is_syncing)
        return;
    if (!transfer->is_upload && transfer->end_kind != END_FINISHED)
        partial_leave(&transfer->partial);
    report_ended(outbox, transfer);
    struct transfer **at = place_of(transfer->id);
    if (*at == transfer)
        *at = transfer->next;
    transfer_free(transfer);
}

/* Handles that the complete file can't be made durable. */
static void fail_file(struct transfer *transfer, int code) {
    // The server has the file of an upload, whatever becomes of its answer.
    if (transfer->is_upload)
        transfer->has_lost_answer = true;
    else
        transfer_fail(transfer, END_FAULTY, "the file can't be made durable: %s", strerror(code));
}

/* Makes the complete file durable; if a record is being written, this happens after it. */
static void finish(struct transfer *transfer) {
    transfer->is_complete = true;
    if (!transfer->is_syncing && !sync_add(transfer, SYNC_FINISH)) {
        fail_file(transfer, ENOMEM);
        attempt_end(transfer);
    }
}

void attempt_begin(struct transfer *transfer) {
    transfer->is_reserved = false;
    places_take(transfer);
    transfer->partial.root = root;
    if (!transfer->is_upload) {
        int64_t finished = -1;
        if (!partial_open(&transfer->partial, root, transfer->id, &finished)) {
            transfer_fail(transfer, END_FAULTY, "the transfer's files can't be used: %s", strerror(errno));
            attempt_end(transfer);
            return;
        }
        if (finished >= 0) {
            // An earlier attempt finished the file, but was killed before its report.
            transfer->partial.size = transfer->partial.total = finished;
            transfer->end_kind = END_FINISHED;
            finish(transfer);
            return;
        }
        if (partial_is_complete(&transfer->partial)) {
            transfer->end_kind = END_FINISHED;
            finish(transfer);
            return;
        }
    }
    if (!fetch_begin(multi, transfer))
        attempt_end(transfer);
}

void attempts_begin_reserved(void) {
    for (struct transfer *next; (next = places_next(transfers)) != NULL;) {
        report_began(outbox, next);
        attempt_begin(next);
    }
}

static void take_results(void) {
    struct sync_result result;
    while (sync_take(&result)) {
        struct transfer *transfer = result.transfer;
        if (result.has_lost_bytes) {
            // A later sync of the same file would succeed, although the bytes are not there. If this fails,
            // too, the file has no record, or is in a directory that can't be changed.
            partial_discard(&transfer->partial);
            fail_file(transfer, result.code);
            attempt_end(transfer);
        } else if (result.kind == SYNC_FINISH || transfer->is_ending) {
            if (result.kind == SYNC_FINISH && result.code != 0)
                fail_file(transfer, result.code);
            attempt_end(transfer);
        } else if (transfer->is_complete) {
            finish(transfer);
        }
        // A record that could not be written costs only bytes: they are requested again after a crash.
    }
}

static void take_ends(void) {
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)) != NULL;) {
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result;
        struct transfer *transfer;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        // A response that only leads to another request is not the transfer's.
        bool must_report =
            !transfer->has_reported_response && transfer->response.is_complete && !transfer->must_restart;
        wire_look();
        fetch_measure(transfer);
        fetch_stop(multi, transfer);
        bool is_whole = fetch_ended(transfer, code);
        if (must_report) {
            report_response(outbox, transfer, is_whole && !transfer->is_upload);
            transfer->has_reported_response = true;
            if (is_whole)
                places_leave(transfer);
        }
        if (is_whole)
            finish(transfer);
        else if (!transfer->must_restart || !fetch_begin(multi, transfer))
            attempt_end(transfer);
    }
}

void attempts_take(void) {
    take_ends();
    take_results();
}

void attempt_add(struct transfer *transfer) {
    transfer->next = transfers;
    transfers = transfer;
    if (!transfer->is_reserved)
        attempt_begin(transfer);
}

void attempts_start(CURLM *handle, int directory, struct outbox *reports) {
    multi = handle;
    root = directory;
    outbox = reports;
    wire_start(&transfers);
}
