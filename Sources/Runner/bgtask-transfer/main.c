/* bgtask-transfer makes the host's transfers with libcurl, many in one process. bgtaskd starts it when there
 * is work, as `bgtask-transfer DIRECTORY MILLISECONDS USER [LAYER...]`, and ends it by closing the socket at
 * descriptor 3. The names of a transfer's files in DIRECTORY begin with its number. The program says
 * that it is alive at least once in MILLISECONDS, and becomes the user with the number USER unless that is 0.
 * The layers are those of the runner's sandbox. The program may be killed at any time: an order that is given
 * again continues the download.
 *
 * Exit statuses: 0 if the host has gone, or if there was no transfer for 30 s; 64 for wrong arguments; 70 for
 * a violation of the protocol; 71 if a system call or the sandbox failed. */
#include "../bgtask-runner/sandbox.h"
#include "attempts.h"
#include "confine.h"
#include "flow.h"
#include "orders.h"
#include "partial.h"
#include "places.h"
#include "sync.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOST_SOCKET 3
/* How long the program stays without a transfer, in ms: its connections can be used again meanwhile. */
#define IDLE_TIME 30000
/* How long a response waits for the end of a small file, in ms. */
#define RESPONSE_DELAY 20
/* After how many bytes of a transfer a report comes before its time, so that the host can stop the transfers
 * of a bundle that has used up its bytes of the day. */
#define REPORT_BYTES (4 << 20)
/* The same for a bundle with a limit: what a program that is killed can leave uncounted. */
#define REPORT_BYTES_LIMITED (256 << 10)
/* How long reports wait for others while reserved transfers go on, in ms. */
#define HOLD_TIME 10
/* The largest number of descriptors that wait for their orders. */
#define WAITING_FILES_MAX 64

static CURLM *multi;
static struct outbox outbox;
static int64_t alive_interval;
static int waiting_files[WAITING_FILES_MAX], waiting_count;

/* Says that the program is alive, ends transfers without a byte for too long, and reports how far the others
 * are. Returns the time until this must happen again, in ms. */
static int check_times(void) {
    int64_t now = now_milliseconds(), next = now + 60000;
    static int64_t next_alive;
    if (now >= next_alive) {
        report_alive(&outbox);
        next_alive = now + alive_interval;
    }
    if (next_alive < next)
        next = next_alive;
    wire_look();
    for (struct transfer *transfer = attempts(), *following; transfer != NULL; transfer = following) {
        following = transfer->next;
        if (!transfer->is_added)
            continue;
        bool is_final = transfer->response.is_complete && transfer->response.status >= 200 &&
                        !transfer->response.is_redirect;
        if (is_final && !transfer->has_reported_response) {
            // The response of a small file comes with the news that all of it is here.
            if (transfer->response_at == 0)
                transfer->response_at = now;
            int64_t due = transfer->response_at + RESPONSE_DELAY;
            if (due <= now || transfer->partial.size >= transfer->record_step) {
                report_response(&outbox, transfer, false);
                transfer->has_reported_response = true;
            } else if (due < next) {
                next = due;
            }
        }
        // The time in libcurl's queue for a connection is not the server's, nor is the host's.
        if (flow_is_queued(transfer) || transfer->is_paused)
            transfer->last_byte = now;
        if (transfer->message[0] != '\0' && !transfer->is_ending) {
            attempt_end(transfer); // its connection was looked at
            continue;
        }
        if (now - transfer->last_byte >= transfer->stall_limit) {
            bool has_seconds = transfer->stall_limit % 1000 == 0;
            transfer_fail(transfer, END_FAULTY, "no byte of the file came or went for %lld %s",
                          (long long)(has_seconds ? transfer->stall_limit / 1000 : transfer->stall_limit),
                          has_seconds ? "s" : "ms");
            transfer->code = CURLE_OPERATION_TIMEDOUT;
            attempt_end(transfer);
            continue;
        }
        if (transfer->last_byte + transfer->stall_limit < next)
            next = transfer->last_byte + transfer->stall_limit;
        if (!transfer->has_news)
            continue;
        int64_t due = transfer->last_report + transfer->progress_interval;
        int64_t moved = transfer->received + transfer->sent;
        int64_t step = transfer->bundle->is_limited ? REPORT_BYTES_LIMITED : REPORT_BYTES;
        if (due <= now || moved - transfer->reported >= step || transfer->is_paused) {
            report_progress(&outbox, transfer);
            transfer->last_report = now;
            transfer->reported = moved;
            transfer->has_news = false;
        } else if (due < next) {
            next = due;
        }
    }
    return next > now ? (int)(next - now) : 0;
}

/* MARK: The host */

static int take_file(void) {
    if (waiting_count == 0)
        return -1;
    int file = waiting_files[0];
    memmove(waiting_files, waiting_files + 1, sizeof(int) * (size_t)--waiting_count);
    return file;
}

/* Changes how many bytes a bundle may move from now on, and lets its transfers go on that wait for it. */
static bool allow(struct body body) {
    char *name = body_text(body, 1);
    if (name == NULL)
        return false;
    uint64_t left = body_number(body, 2, UINT64_MAX);
    const struct party *bundle = places_allow(name, left <= INT64_MAX ? (int64_t)left : -1);
    free(name);
    if (bundle == NULL)
        return true;
    for (struct transfer *one = attempts(); one != NULL; one = one->next)
        if (one->bundle == bundle)
            flow_go_on(one);
    return true;
}

/* Obeys an order; returns false if it violates the protocol. */
static bool obey(const struct frame *frame) {
    uint64_t id = body_number(frame->body, 1, 0);
    if (frame->kind == TRANSFER_CANCEL) {
        struct transfer *transfer = attempt_find(id);
        if (transfer == NULL) // it ended before the order arrived
            return true;
        transfer_fail(transfer, END_CANCELLED, "the host cancelled it");
        transfer->end_kind = END_CANCELLED;
        if (!transfer->is_ending)
            attempt_end(transfer);
        return true;
    }
    if (frame->kind == TRANSFER_PROMOTE) {
        struct transfer *transfer = attempt_find(id);
        if (transfer != NULL && transfer->is_reserved)
            attempt_begin(transfer);
        return true;
    }
    if (frame->kind == TRANSFER_ALLOW)
        return allow(frame->body);
    if (frame->kind != TRANSFER_BEGIN)
        return false;
    int upload = body_number(frame->body, 5, 0) != 0 ? take_file() : -1;
    if (body_number(frame->body, 5, 0) != 0 && upload < 0)
        return false;
    struct transfer *transfer = attempt_find(id) == NULL ? order_read(frame->body, upload) : NULL;
    if (transfer == NULL) {
        if (upload >= 0)
            close(upload);
        return false;
    }
    attempt_add(transfer);
    return true;
}

/* Receives bytes, and the files that come with them. Returns what recvmsg returns. */
static ssize_t receive(uint8_t *at, size_t room) {
    union {
        char space[CMSG_SPACE(sizeof(int) * 16)];
        struct cmsghdr aligned;
    } control;
    struct iovec bytes = {at, room};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = control.space,
                             .msg_controllen = sizeof(control.space)};
    ssize_t count = recvmsg(HOST_SOCKET, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (count < 0)
        return count;
    // Without free descriptors, the kernel closes the one of a file, and later ones would be taken for it.
    if (message.msg_flags & MSG_CTRUNC) {
        errno = EMFILE;
        return -1;
    }
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part != NULL; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        size_t found = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < found; i++) {
            int file;
            memcpy(&file, CMSG_DATA(part) + i * sizeof(int), sizeof(file));
            if (waiting_count < WAITING_FILES_MAX)
                waiting_files[waiting_count++] = file;
            else
                close(file);
        }
    }
    return count;
}

/* Reads all orders that have arrived. Returns -1 to go on, or the exit status of the program. */
static int read_host(void) {
    static struct frame_reader reader;
    for (;;) {
        uint8_t *at;
        size_t room = frame_reader_room(&reader, &at);
        ssize_t count = receive(at, room);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return -1;
        if (count <= 0)
            return count == 0 || errno == ECONNRESET ? 0 : 71;
        frame_reader_added(&reader, (size_t)count);
        struct frame frame;
        enum frame_status status;
        while ((status = frame_reader_next(&reader, &frame)) == FRAME_READY)
            if (!obey(&frame))
                status = FRAME_VIOLATION, reader.violation = "an order does not fit";
        if (status == FRAME_VIOLATION) {
            report_failed(&outbox, reader.violation);
            return 70;
        }
    }
}

/* MARK: The loop */

static void wake(void) {
    curl_multi_wakeup(multi);
}

/* Whether reports wait for others: while reserved transfers go on without the host, it is woken less often.
 * Returns the time for which the loop may wait then, in ms; -1 to send them now. */
static int hold_reports(int timeout) {
    static int64_t since;
    bool has_reserve = false;
    for (const struct transfer *one = attempts(); one != NULL && !has_reserve; one = one->next)
        has_reserve = one->is_reserved;
    if (!has_reserve || !outbox_waits(&outbox)) {
        since = 0;
        return -1;
    }
    int64_t now = now_milliseconds();
    if (since == 0)
        since = now;
    int64_t left = since + HOLD_TIME - now;
    if (left <= 0) {
        since = 0;
        return -1;
    }
    return left < timeout ? (int)left : timeout;
}

static int run(void) {
    int64_t idle_since = now_milliseconds();
    for (;;) {
        int running, ready;
        curl_multi_perform(multi, &running);
        attempts_take();
        attempts_begin_reserved();
        int timeout = check_times();
        sync_submit();
        if (attempts() != NULL || outbox_waits(&outbox))
            idle_since = now_milliseconds();
        else if (now_milliseconds() - idle_since >= IDLE_TIME)
            return 0; // an order that comes now is given again to the next program
        else if (timeout > IDLE_TIME)
            timeout = IDLE_TIME;
        int held = hold_reports(timeout);
        if (held >= 0)
            timeout = held;
        else if (outbox_waits(&outbox) && !outbox_flush(&outbox))
            return errno == EPIPE || errno == ECONNRESET ? 0 : 71;
        struct curl_waitfd host = {.fd = HOST_SOCKET, .events = CURL_WAIT_POLLIN};
        if (held < 0 && outbox_waits(&outbox))
            host.events |= CURL_WAIT_POLLOUT;
        curl_multi_poll(multi, &host, 1, timeout, &ready);
        int status = read_host();
        if (status >= 0)
            return status;
    }
}

static int fail(const char *step) {
    char text[1024];
    snprintf(text, sizeof(text), "%s: %s", step, strerror(errno));
    report_failed(&outbox, text);
    return 71;
}

int main(int count, char **arguments) {
    unsigned layers = 0;
    for (int i = 4; i < count; i++) {
        unsigned layer = sandbox_layer_named(arguments[i]);
        layers |= layer;
        if (layer == 0)
            count = 0;
    }
    if (count < 4 || (alive_interval = strtoll(arguments[2], NULL, 10)) <= 0) {
        fprintf(stderr,
                "bgtask-transfer is not for direct use: bgtaskd starts it, as 'bgtask-transfer DIRECTORY "
                "MILLISECONDS USER [LAYER...]' with its socket at descriptor 3\n");
        return 64;
    }
    uint32_t user = (uint32_t)strtoul(arguments[3], NULL, 10);
    if (user != 0)
        layers |= LAYER_USER;
    // Signals from a terminal are for the host.
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    outbox.socket = HOST_SOCKET;
    if (fcntl(HOST_SOCKET, F_SETFD, FD_CLOEXEC) != 0)
        return fail("descriptor 3, the host's socket");
    int root = open(arguments[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return fail(arguments[1]);
    // The program of a host that was killed may not have noticed that yet.
    while (flock(root, LOCK_EX) != 0)
        if (errno != EINTR)
            return fail("the lock of the directory");
    partial_learn_boot();
    // Each request has buffers of 0.5 MiB, which would otherwise go back to the kernel after each small file.
    mallopt(M_MMAP_THRESHOLD, 2 << 20);
    mallopt(M_TRIM_THRESHOLD, 16 << 20);
    (void)!nice(5); // after the host and its tasks
    char finding[512];
    if (!confine(layers, user, arguments[1], finding, sizeof(finding))) {
        report_failed(&outbox, finding);
        return 71;
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || (multi = curl_multi_init()) == NULL)
        return fail("libcurl");
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 6L);
    attempts_start(multi, root, &outbox);
    if (!sync_start(wake))
        return fail("a thread");
    report_hello(&outbox);
    return run();
}
