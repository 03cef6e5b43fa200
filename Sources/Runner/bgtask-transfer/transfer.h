/* One transfer: what the host ordered, and how far its attempt is. */
#ifndef BGTASK_TRANSFER_TRANSFER_H
#define BGTASK_TRANSFER_TRANSFER_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

/** How an attempt ended; the values are those of the message *ended*. */
enum end_kind {
    END_FINISHED = 0,  /**< The file is complete and durable, or the upload was accepted. */
    END_REFUSED = 1,   /**< The server refused: its final response is not a success; no file. */
    END_FAULTY = 2,    /**< A fault of the network, the server or the disk; try again. */
    END_BUSY = 3,      /**< The server asked for another attempt: 5xx, 408, 425 or 429. */
    END_FUTILE = 4,    /**< Another attempt would fail in the same way. */
    END_CANCELLED = 5, /**< The host cancelled it. */
};

/** The largest size of all header lines of one response and the interim ones before it, in bytes. */
#define HEADER_BYTES_MAX (48u * 1024u)
/** The largest number of these header lines. */
#define HEADER_LINES_MAX 200u
/** Why a response with more of them is refused. */
#define HEADERS_REFUSED "the server sent more than 200 header lines or 48 KiB of them"
/* Why an attempt ends that brings bytes although its bundle may move none. */
#define OUT_OF_BYTES                                                                                         \
    "the bundle may move no more bytes today, and the server sends some that belong to no file"

/** The longest answer to an upload that the report of its end contains, in bytes. A longer one becomes the
 *  transfer's file. */
#define ANSWER_MAX 16384u
/** The longest validator that is kept, with the final NUL. */
#define VALIDATOR_MAX 512u

/** What the server said in its newest response. */
struct response {
    long status;
    bool is_complete;         /**< All header lines have arrived. */
    bool is_redirect;         /**< libcurl will follow it. */
    bool has_parts;           /**< The body has parts of the file, each with header lines. */
    int64_t length;           /**< Content-Length; -1 if it is missing. */
    int64_t first, total;     /**< Of Content-Range; -1 if it is missing or not valid. */
    char etag[VALIDATOR_MAX]; /**< A strong one only; empty if there is none. */
    char modified[64];        /**< Last-Modified; empty if it is missing. */
    time_t date;              /**< Date; -1 if it is missing. */
    int64_t retry_after;      /**< Seconds; -1 if it is missing. */
    char *lines;              /**< The header lines, each with a final line feed. */
    size_t line_bytes;
    size_t seen_lines, seen_bytes; /**< Also those of interim responses, and of fields after the body. */
};

/** The file of a download. */
struct partial {
    int root;         /**< The directory of all transfers; not owned. */
    uint64_t id;      /**< The number of the transfer, with which the names of its files begin. */
    int file;         /**< The unfinished file; -1 if it is not open. */
    int64_t size;     /**< Bytes in the file. */
    int64_t recorded; /**< Bytes in the file when the resume record was last requested. */
    char etag[VALIDATOR_MAX], modified[64];
    int64_t total;       /**< The length of the complete file; -1 if it is not known. */
    int64_t checked;     /**< When the file has this size, the free space is looked up again. */
    bool is_kept;        /**< The file stays in the directory, so its name must be durable. */
    bool has_record;     /**< Whether a resume record was requested or found. */
    bool has_lost_bytes; /**< Whether the disk has refused some of the file. */
};

/** A bundle or a server, for as long as an order names it, or a bundle has used of its limit. */
struct party {
    struct party *next;
    char *name;
    unsigned orders; /**< The orders that name it. */
    unsigned active; /**< Its transfers that hold a place. */
    bool is_limited; /**< Whether its transfers may move only the bytes of `left`. */
    int64_t granted; /**< What the host said. */
    int64_t left;    /**< May fall below zero by what one read of the network brought. */
};

/** One transfer. */
struct transfer {
    struct transfer *next;
    struct party *bundle, *server;
    uint64_t rank;    /**< Of the transfers of one bundle, those of a higher rank begin first. */
    bool is_reserved; /**< It begins when a place is free. */
    bool holds_place;
    bool is_paused; /**< It waits for the host, because its bundle may move no more bytes. */
    /* The order. */
    uint64_t id;
    char *url, *method;
    struct curl_slist *headers; /**< From the order. */
    struct curl_slist *sending; /**< Those of the attempt. */
    bool is_upload;
    int upload; /**< The file to send; -1 for a download. */
    int64_t upload_length;
    struct stat upload_facts;  /**< The file as the attempt began. */
    int64_t stall_limit;       /**< The longest time without a byte, in ms. */
    int64_t progress_interval; /**< The shortest time between two reports, in ms. */
    int64_t record_step;       /**< After how many bytes the first resume record is written. */
    /* The attempt. */
    CURL *handle;
    bool is_added; /**< The handle belongs to the multi handle. */
    struct response response;
    struct partial partial;
    int64_t resumed_from;   /**< The first byte that this attempt asked for. */
    int64_t received, sent; /**< The bytes of bodies in this attempt. */
    int wire_socket;        /**< The connection of the newest request; -1 if it is not looked at. */
    int64_t wire;           /**< The bytes that it had brought when it was last looked at; -1 if not known. */
    int64_t wire_body;      /**< `received` then. */
    int64_t overhead;       /**< The bytes that it brought, and that belong to no body. */
    int64_t charged;        /**< How many of them are counted in `received`. */
    int64_t upload_at;
    uint8_t *answer;      /**< The body of the answer to an upload; NULL before its first byte. */
    size_t answer_length; /**< The bytes in `answer`; those of a longer body are also in `partial`. */
    bool has_lost_answer; /**< The answer is too long, or its file could not be written. */
    int64_t unkept;  /**< The bytes of bodies that are no download: of redirects, of an error, or the answer
                        to an upload. */
    int64_t ignored; /**< The bytes of the body of the newest redirect. */
    bool is_cut;     /**< There were too many of them, so the rest is not read. */
    int64_t given;   /**< The bytes sent before a redirect that is followed without a body; -1 without one. */
    int64_t last_byte, last_report; /**< On the monotonic clock, in ms. */
    bool has_news;                  /**< Bytes have moved since the last report. */
    int64_t reported;               /**< The bytes received and sent up to the last report. */
    unsigned restarts;
    bool must_restart; /**< The file must be fetched again from its first byte. */
    bool is_complete;  /**< All bytes have arrived, and become durable. */
    bool is_syncing;   /**< A thread works on the file. */
    bool is_ending; /**< The attempt has ended, and its end is reported when no thread works on the file. */
    long asked; /**< How many redirects came before the newest request that has a connection; -1 for none. */
    bool has_reported_response;
    int64_t response_at; /**< When the final response was first seen, in ms; 0 before. */
    enum end_kind end_kind;
    char message[CURL_ERROR_SIZE + 128];
    char error[CURL_ERROR_SIZE]; /**< libcurl writes its own sentence here. */
    CURLcode code;
    int64_t began;     /**< When the newest request began, in ms since 1970. */
    char metrics[320]; /**< What the newest request cost, as report_ended sends it; empty if unknown. */
};

/** Frees a transfer that is in no list, and closes its files. */
void transfer_free(struct transfer *transfer);

/** Notes why the attempt ends; the first reason is kept. */
void transfer_fail(struct transfer *transfer, enum end_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The monotonic clock, in ms. */
int64_t now_milliseconds(void);

#endif
