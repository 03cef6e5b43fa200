/* A report to the host that several parts of the launcher send. */
#include "launcher.h"

void launcher_report(struct launcher *launcher, uint8_t kind, uint64_t id, const char *finding) {
    frame_begin(&launcher->writer, kind);
    frame_add_number(&launcher->writer, 1, id);
    frame_add_text(&launcher->writer, 2, finding, 4096);
    outbox_send(&launcher->outbox, &launcher->writer, NULL, 0);
}
