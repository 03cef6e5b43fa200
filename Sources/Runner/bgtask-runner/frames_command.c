#include "frames_command.h"
#include "frames.h"
#include "task.h"

#include <stdio.h>
#include <unistd.h>

static struct frame_reader reader;
static struct frame_writer writer;

static bool is_known(const struct message_rule *rule, uint8_t tag) {
    for (size_t i = 0; i < MESSAGE_FIELDS_MAX && rule->fields[i].tag != 0; i++)
        if (rule->fields[i].tag == tag)
            return true;
    return false;
}

static bool encode_again(const struct frame *frame, uint16_t *sequence) {
    frame_begin(&writer, frame->kind);
    uint8_t tag;
    struct value value;
    for (size_t at = 0; body_next(frame->body, &at, &tag, &value);)
        if (is_known(frame->rule, tag))
            frame_add_bytes(&writer, tag, value.bytes, value.length);
    return frame_end(&writer, sequence) && fwrite(writer.bytes, 1, writer.length, stdout) == writer.length;
}

int frames_main(void) {
    uint16_t sequence = 0;
    for (;;) {
        uint8_t *at;
        size_t room = frame_reader_room(&reader, &at);
        ssize_t count = read(STDIN_FILENO, at, room);
        if (count < 0)
            return 74;
        if (count == 0)
            break;
        frame_reader_added(&reader, (size_t)count);
        struct frame frame;
        enum frame_status status;
        while ((status = frame_reader_next(&reader, &frame)) == FRAME_READY)
            if (!encode_again(&frame, &sequence))
                return 74;
        if (status == FRAME_VIOLATION) {
            fprintf(stderr, "protocolError: %s\n", reader.violation);
            return EXIT_PROTOCOL_ERROR;
        }
    }
    if (!frame_reader_is_inside(&reader))
        return 0;
    fprintf(stderr, "protocolError: the stream ends inside a frame\n");
    return EXIT_PROTOCOL_ERROR;
}
