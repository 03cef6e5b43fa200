/* The extension for background sessions; bgtask.h describes its contract. */
#include "host_functions.h"
#include "report.h"

#include <stdlib.h>

static bgtask_error sessions_call(bgtask_task *task, const void *question, size_t length,
                                  bgtask_session_visitor visitor, void *context, char *why, size_t why_size) {
    if (question == NULL || visitor == NULL)
        return BGTASK_INVALID_ARGUMENT;
    if (length > BGTASK_BLOB_MAX) {
        say_why(why, why_size, "the question is larger than 49152 bytes: shorten the address or the headers");
        return BGTASK_TOO_LARGE;
    }
    struct waiting_call call;
    struct frame_writer *writer = call_begin(task, &call, MESSAGE_SESSION_CALL);
    if (writer != NULL) {
        frame_add_bytes(writer, 2, question, length);
        call_end(task, &call, writer);
    }
    uint8_t tag;
    struct value value;
    for (size_t at = 0; call.error == BGTASK_OK && call.copy != NULL &&
                        body_next((struct body){call.copy, call.length}, &at, &tag, &value);)
        if (tag == 5)
            visitor(value.bytes, value.length, context);
    say_outcome(&call, why, why_size);
    free(call.text);
    free(call.copy);
    return call.error;
}

const bgtask_sessions sessions_table = {.struct_size = sizeof(bgtask_sessions), .call = sessions_call};
