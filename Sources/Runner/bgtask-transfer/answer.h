/* Reads the status and the header lines of responses. */
#ifndef BGTASK_TRANSFER_ANSWER_H
#define BGTASK_TRANSFER_ANSWER_H

#include "transfer.h"

/** Forgets the response before. */
void answer_reset(struct answer *answer);
/** Reads one header line, which may end with CR and LF. Returns NULL, or why the response is refused, as a
 *  constant text. */
const char *answer_line(struct answer *answer, const char *line, size_t length);
/** Whether the status asks for another attempt. */
bool answer_is_busy(const struct answer *answer);
/** Whether the status is a success. */
bool answer_is_success(const struct answer *answer);

#endif
