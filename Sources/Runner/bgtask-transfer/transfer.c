#include "partial.h"
#include "places.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void transfer_free(struct transfer *transfer) {
    if (transfer == NULL)
        return;
    places_quit(transfer);
    curl_easy_cleanup(transfer->handle);
    curl_slist_free_all(transfer->headers);
    curl_slist_free_all(transfer->sending);
    if (transfer->upload >= 0)
        close(transfer->upload);
    partial_close(&transfer->partial);
    free(transfer->response.lines);
    free(transfer->answer);
    free(transfer->url);
    free(transfer->method);
    free(transfer);
}

void transfer_fail(struct transfer *transfer, enum end_kind kind, const char *format, ...) {
    if (transfer->message[0] != '\0')
        return;
    transfer->end_kind = kind;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(transfer->message, sizeof(transfer->message), format, arguments);
    va_end(arguments);
}

int64_t now_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
