/* The tables of Documentation/RunnerProtocol.md; each row is one entry. */
#include "bgtask.h"
#include "frames.h"

// clang-format off
#define U64(tag)             {tag, FIELD_U64, false, false, 0}
#define U64_REQUIRED(tag)    {tag, FIELD_U64, true, false, 0}
#define I64(tag)             {tag, FIELD_I64, false, false, 0}
#define I64_REQUIRED(tag)    {tag, FIELD_I64, true, false, 0}
#define FLAG(tag)            {tag, FIELD_FLAG, false, false, 0}
#define FLAG_REQUIRED(tag)   {tag, FIELD_FLAG, true, false, 0}
#define TEXT(tag, n)         {tag, FIELD_TEXT, false, false, n}
#define TEXT_REQUIRED(tag, n) {tag, FIELD_TEXT, true, false, n}
#define TEXTS(tag)           {tag, FIELD_TEXT, false, true, 0}
#define BYTES(tag, n)        {tag, FIELD_BYTES, false, false, n}
#define BYTES_REQUIRED(tag, n) {tag, FIELD_BYTES, true, false, n}
#define BODIES(tag)          {tag, FIELD_BYTES, false, true, 0}

static const struct message_rule rules[] = {
    // Host to task
    {MESSAGE_LAUNCH, {U64_REQUIRED(1), U64_REQUIRED(2), TEXT_REQUIRED(3, 0), TEXT_REQUIRED(4, 0), U64_REQUIRED(5),
                      U64_REQUIRED(6), U64_REQUIRED(7), I64(8), I64(9), TEXT_REQUIRED(10, 0), TEXT_REQUIRED(11, 0),
                      TEXT(12, 0), TEXT(13, 0), FLAG(14), U64(15), TEXTS(16), TEXTS(17),
                      BYTES(18, 0)}},
    {MESSAGE_PAYLOAD, {BYTES_REQUIRED(1, BGTASK_BLOB_MAX)}},
    {MESSAGE_CHECKPOINT_IN, {BYTES_REQUIRED(1, BGTASK_BLOB_MAX)}},
    {MESSAGE_PROGRAM, {BYTES_REQUIRED(1, 60000)}},
    {MESSAGE_COMMAND, {TEXTS(1), TEXTS(2), TEXT_REQUIRED(3, 0), FLAG_REQUIRED(4), BYTES_REQUIRED(5, 256),
                       U64_REQUIRED(6), FLAG_REQUIRED(7), TEXT(8, 1024)}},
    {MESSAGE_START, {{0}}},
    {MESSAGE_EXPIRE, {TEXT_REQUIRED(1, 0), U64_REQUIRED(2), I64_REQUIRED(3)}},
    {MESSAGE_REPLY, {U64_REQUIRED(1), U64_REQUIRED(2), TEXT(3, 0), BODIES(4), BYTES(5, BGTASK_BLOB_MAX)}},
    {MESSAGE_SAMPLE, {U64_REQUIRED(1)}},
    {MESSAGE_CONDITIONS, {FLAG_REQUIRED(1), U64_REQUIRED(2), U64_REQUIRED(3), U64(4), U64_REQUIRED(5), FLAG(6), FLAG(7), U64(8), U64(9)}},
    // Task to host
    {MESSAGE_READY, {U64_REQUIRED(1), U64(2), U64_REQUIRED(3)}},
    {MESSAGE_PROGRESS, {I64_REQUIRED(1), I64_REQUIRED(2), TEXT(3, 1024)}},
    {MESSAGE_LOG, {U64_REQUIRED(1), TEXT_REQUIRED(2, 4096), TEXT(3, 0), TEXT(4, 0)}},
    {MESSAGE_CHECKPOINT_OUT, {BYTES_REQUIRED(1, BGTASK_BLOB_MAX)}},
    {MESSAGE_SUBMIT, {U64_REQUIRED(1), TEXT_REQUIRED(2, 0), I64(3), FLAG(4), FLAG(5), BYTES(6, BGTASK_BLOB_MAX),
                      TEXT(7, 0), TEXT(8, 0), FLAG(11), FLAG(12), I64(13), U64(14)}},
    {MESSAGE_CANCEL, {U64_REQUIRED(1), TEXT(2, 0)}},
    {MESSAGE_PENDING, {U64_REQUIRED(1)}},
    {MESSAGE_BEGIN_ASSERTION, {U64_REQUIRED(1), TEXT_REQUIRED(2, 256), BYTES(3, 128)}},
    {MESSAGE_END_ASSERTION, {U64_REQUIRED(1)}},
    {MESSAGE_STACK, {U64_REQUIRED(1), BYTES_REQUIRED(2, 512)}},
    {MESSAGE_ADVICE, {TEXT_REQUIRED(1, 128), TEXT_REQUIRED(2, 1024)}},
    {MESSAGE_FAULT, {TEXT_REQUIRED(1, 128), TEXT_REQUIRED(2, 4096)}},
    {MESSAGE_TITLE, {TEXT_REQUIRED(1, 1024), TEXT(2, 1024)}},
    {MESSAGE_CRASH, {U64_REQUIRED(1), U64_REQUIRED(2), U64(3), BYTES_REQUIRED(4, 512), TEXT(5, 1024)}},
    {MESSAGE_LOAD_FAILED, {TEXT_REQUIRED(1, 0), FLAG(2)}},
    {MESSAGE_DONE, {FLAG_REQUIRED(1), TEXT(2, 1024), FLAG(3), FLAG(4), U64(5)}},
    {MESSAGE_SESSION_CALL, {U64_REQUIRED(1), BYTES_REQUIRED(2, BGTASK_BLOB_MAX)}},
    // Host to launcher
    {MESSAGE_TEMPLATE, {U64_REQUIRED(1), TEXT(2, 0), TEXT_REQUIRED(3, 0), TEXTS(4), BODIES(5), TEXT_REQUIRED(6, 0),
                        TEXT(7, 0), I64(8), TEXT(9, 0), FLAG(10), FLAG(11), TEXTS(12), TEXTS(13), TEXTS(14), TEXTS(15),
                        TEXT(16, 0), BYTES(17, 0), FLAG(18), TEXT(19, 0), U64(20), FLAG(21)}},
    {MESSAGE_SPAWN, {U64_REQUIRED(1), U64_REQUIRED(2), TEXT(3, 0), FLAG(4), FLAG(5), U64(6), BYTES(7, 0)}},
    {MESSAGE_KILL, {U64_REQUIRED(1)}},
    {MESSAGE_RETIRE, {U64_REQUIRED(1)}},
    {MESSAGE_KILL_TEMPLATE, {U64_REQUIRED(1)}},
    {MESSAGE_PREPARE, {U64_REQUIRED(1), TEXT_REQUIRED(2, 0), FLAG(3)}},
    // Launcher to host
    {MESSAGE_HELLO, {U64_REQUIRED(1), U64_REQUIRED(2)}},
    {MESSAGE_SPAWNED, {U64_REQUIRED(1), U64_REQUIRED(2), U64(3), FLAG(4)}},
    {MESSAGE_EXITED, {U64_REQUIRED(1), U64_REQUIRED(2), U64_REQUIRED(3), U64_REQUIRED(4), U64_REQUIRED(5),
                      U64_REQUIRED(6)}},
    {MESSAGE_TEMPLATE_READY, {U64_REQUIRED(1), FLAG_REQUIRED(2), TEXT(3, 0)}},
    {MESSAGE_TEMPLATE_FAILED, {U64_REQUIRED(1), TEXT_REQUIRED(2, 0), U64(3), FLAG(4)}},
    {MESSAGE_SPAWN_FAILED, {U64_REQUIRED(1), TEXT_REQUIRED(2, 0), FLAG(3)}},
    {MESSAGE_UNKILLABLE, {U64_REQUIRED(1)}},
    {MESSAGE_PREPARED, {U64_REQUIRED(1), TEXT(2, 0)}},
    {MESSAGE_OBSERVED, {U64_REQUIRED(1), TEXT(2, 0), TEXT(3, 0), TEXT(4, 0), FLAG(5), U64_REQUIRED(6)}},
    {MESSAGE_TEMPLATE_STARTED, {U64_REQUIRED(1), U64_REQUIRED(2)}},
};

const struct message_rule pending_request_rule = {
    0, {TEXT_REQUIRED(2, 0), I64(3), FLAG(4), FLAG(5), BYTES(6, 0), TEXT(7, 0), TEXT(8, 0), U64_REQUIRED(9),
        U64_REQUIRED(10)}};
// clang-format on

const struct message_rule *message_rule_of(uint8_t kind) {
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].kind == kind)
            return &rules[i];
    return NULL;
}
