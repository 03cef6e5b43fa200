/* A report to the host that several parts of the launcher send. */
#include "launcher.h"
#include "process.h"

void launcher_report(struct launcher *launcher, uint8_t kind, uint64_t id, const char *finding, int code) {
    frame_begin(&launcher->writer, kind);
    frame_add_number(&launcher->writer, 1, id);
    frame_add_text(&launcher->writer, 2, finding, 4096);
    if (is_shortage(code))
        frame_add_flag(&launcher->writer, kind == MESSAGE_TEMPLATE_FAILED ? 4 : 3, true);
    outbox_send(&launcher->outbox, &launcher->writer, NULL, 0);
}
