/* Reads the status and the header lines of responses. */
#ifndef BGTASK_TRANSFER_RESPONSE_H
#define BGTASK_TRANSFER_RESPONSE_H

#include "transfer.h"

/** Forgets the response before. */
void response_reset(struct response *response);
/** Reads one header line, which may end with CR and LF. Returns NULL, or why the response is refused, as a
 *  constant text. */
const char *response_line(struct response *response, const char *line, size_t length);
/** Counts a header line. Returns NULL, or why the response is refused. */
const char *response_count(struct response *response, size_t length);
/** Whether Last-Modified may be used to resume: a file that was changed in the minute of the response may
 *  change again without a new date. */
bool response_has_strong_date(const struct response *response);
/** Whether the status asks for another attempt. */
bool response_is_busy(const struct response *response);
/** Whether the status is a success without a file, 204 or 205. */
bool response_has_no_file(const struct response *response);
/** Whether the status is a success. */
bool response_is_success(const struct response *response);

#endif
