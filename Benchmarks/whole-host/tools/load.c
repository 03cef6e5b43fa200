/* SPDX-License-Identifier: Apache-2.0
 *
 * The load generator: it does what clients do, and measures the times outside the host. FIRST is the number
 * of the first task, so that stamps of different runs differ; PREFIX.NUMBER is a task's identifier. All times
 * are CLOCK_MONOTONIC nanoseconds.
 *
 *   bench-load submit SOCKET PREFIX FIRST COUNT CONNECTIONS
 *       submits as fast as the host answers; prints the seconds, then the time of each answer
 *   bench-load one SOCKET STAMPS PREFIX FIRST COUNT GAP
 *       submits one at a time, GAP milliseconds after the last one began; prints the time to the handler of each
 *   bench-load burst SOCKET STAMPS PREFIX FIRST COUNT CONNECTIONS
 *       submits all at once and waits until each has run and has ended; prints "submitted", "started" and "ended"
 *       with the seconds from the first submission on
 *   bench-load expire SOCKET STAMPS PREFIX FIRST COUNT
 *       launches one task at a time and expires it; prints each time to the handler's callback
 *   bench-load follow SOCKET PREFIX FIRST COUNT
 *       submits one task that reports the time as its progress, and follows the event stream; prints the age of each
 *   bench-load together SOCKET STAMPS PREFIX FIRST COUNT
 *       submits COUNT tasks at once, each over a connection of its own; prints the time to the handler of each
 *   bench-load hold SOCKET STAMPS PREFIX FIRST COUNT CONNECTIONS
 *       launches COUNT tasks beside each other, as simulated launches, and waits until all run
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>

#include "http.h"
#include "stamps.h"

#define MOST_CONNECTIONS 120

static void rest(long microseconds) {
    nanosleep(&(struct timespec){microseconds / 1000000, microseconds % 1000000 * 1000}, NULL);
}

/* Waits up to a minute until a task has left this stamp. Returns the stamp's time. */
static int64_t stamp_of(const char *path, int64_t number, int64_t what) {
    static off_t seen;
    int64_t give_up = now() + 60000000000;
    for (; now() < give_up; rest(500)) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0)
            continue;
        struct stamp stamp;
        off_t at = seen;
        while (pread(file, &stamp, sizeof stamp, at) == sizeof stamp) {
            at += (off_t)sizeof stamp;
            if (stamp.number == number && stamp.what == what) {
                seen = at;
                close(file);
                return stamp.time;
            }
        }
        close(file);
    }
    die("a task left no stamp within a minute", path);
}

/* Waits until COUNT tasks, numbered from FIRST, have left a stamp. Returns the time of the last stamp. */
static int64_t last_stamp(const char *path, int64_t first, long count) {
    int64_t last = 0, give_up = now() + 600000000000;
    long found = 0;
    off_t at = 0;
    while (found < count) {
        struct stamp stamp;
        int file = open(path, O_RDONLY | O_CLOEXEC);
        while (file >= 0 && pread(file, &stamp, sizeof stamp, at) == sizeof stamp) {
            at += (off_t)sizeof stamp;
            if (stamp.number < first || stamp.number >= first + count || stamp.what != STAMP_RUN)
                continue;
            found++;
            if (stamp.time > last)
                last = stamp.time;
        }
        if (file >= 0)
            close(file);
        if (now() > give_up)
            die("tasks left no stamp within ten minutes", path);
        if (found < count)
            rest(1000);
    }
    return last;
}

static void send_submission(struct connection *connection, const char *route, const char *prefix,
                            int64_t number) {
    char body[512];
    snprintf(body, sizeof body, "{\"identifier\":\"%s.%lld\"%s}", prefix, (long long)number,
             strcmp(route, "/v1/launches") == 0 ? ",\"debug\":false" : "");
    http_send(connection, "POST", route, body);
}

static void check_accepted(const struct connection *connection) {
    if (connection->status != 201)
        die("a submission was refused", connection->body);
}

/* Submits COUNT tasks over CONNECTIONS open connections, with one request at a time on each. If TIMES is
 * not NULL, it receives the time of each answer. */
static void submit_all(const char *path, const char *route, const char *prefix, int64_t first, long count,
                       long connections, int64_t *times) {
    static struct connection open[MOST_CONNECTIONS];
    static struct pollfd polled[MOST_CONNECTIONS];
    int64_t sent[MOST_CONNECTIONS];
    long next = 0, answered = 0;
    if (connections > count)
        connections = count;
    for (long i = 0; i < connections; i++) {
        open[i] = http_connect(path);
        polled[i] = (struct pollfd){open[i].socket, POLLIN, 0};
    }
    for (long i = 0; i < connections; i++) {
        sent[i] = now();
        send_submission(&open[i], route, prefix, first + next++);
    }
    while (answered < count) {
        if (poll(polled, (nfds_t)connections, 60000) <= 0)
            die("the host did not answer within a minute", path);
        for (long i = 0; i < connections; i++) {
            if (!polled[i].revents || !http_read(&open[i]))
                continue;
            check_accepted(&open[i]);
            if (times)
                times[answered] = now() - sent[i];
            answered++;
            if (next < count) {
                sent[i] = now();
                send_submission(&open[i], route, prefix, first + next++);
            }
        }
    }
    for (long i = 0; i < connections; i++) {
        close(open[i].socket);
        free(open[i].buffer);
    }
}

static int submit(char **arguments) {
    long count = atol(arguments[3]);
    int64_t *times = calloc((size_t)count, sizeof *times);
    int64_t start = now();
    submit_all(arguments[0], "/v1/requests", arguments[1], atoll(arguments[2]), count, atol(arguments[4]),
               times);
    printf("%.6f\n", (double)(now() - start) / 1e9);
    for (long i = 0; i < count; i++)
        printf("%lld\n", (long long)times[i]);
    return 0;
}

static int one_by_one(char **arguments) {
    struct connection connection = http_connect(arguments[0]);
    int64_t first = atoll(arguments[3]);
    long count = atol(arguments[4]);
    for (long i = 0; i < count; i++) {
        int64_t start = now();
        send_submission(&connection, "/v1/requests", arguments[2], first + i);
        while (!http_read(&connection)) {
        }
        check_accepted(&connection);
        printf("%lld\n", (long long)(stamp_of(arguments[1], first + i, STAMP_RUN) - start));
        rest(atol(arguments[5]) * 1000);
    }
    return 0;
}

/* Waits until none of the newest launches is running. */
static void wait_until_ended(const char *path) {
    struct connection connection = http_connect(path);
    int64_t give_up = now() + 60000000000;
    do {
        if (http_ask(&connection, "GET", "/v1/launches?limit=70", NULL) != 200)
            die("the launches could not be listed", connection.body);
        if (!strstr(connection.body, "\"endedAt\":null"))
            return;
        rest(3000);
    } while (now() < give_up);
    die("a launch did not end within a minute", path);
}

static int burst(char **arguments) {
    int64_t first = atoll(arguments[3]);
    long count = atol(arguments[4]);
    int64_t start = now();
    submit_all(arguments[0], "/v1/requests", arguments[2], first, count, atol(arguments[5]), NULL);
    int64_t submitted = now();
    int64_t started = last_stamp(arguments[1], first, count);
    wait_until_ended(arguments[0]);
    printf("submitted %.6f\nstarted %.6f\nended %.6f\n", (double)(submitted - start) / 1e9,
           (double)(started - start) / 1e9, (double)(now() - start) / 1e9);
    return 0;
}

static int expire(char **arguments) {
    struct connection connection = http_connect(arguments[0]);
    int64_t first = atoll(arguments[3]);
    long count = atol(arguments[4]);
    for (long i = 0; i < count; i++) {
        char body[512];
        send_submission(&connection, "/v1/requests", arguments[2], first + i);
        while (!http_read(&connection)) {
        }
        check_accepted(&connection);
        stamp_of(arguments[1], first + i, STAMP_RUN);
        /* The pause lets every process fall asleep before the call to stop. */
        rest(50000);
        snprintf(body, sizeof body, "{\"target\":\"%s.%lld\"}", arguments[2], (long long)(first + i));
        int64_t start = now();
        if (http_ask(&connection, "POST", "/v1/expire", body) != 200)
            die("the launch could not be expired", connection.body);
        printf("%lld\n", (long long)(stamp_of(arguments[1], first + i, STAMP_EXPIRED) - start));
        rest(20000);
    }
    return 0;
}

static int follow(char **arguments) {
    struct connection stream = http_connect(arguments[0]), connection = http_connect(arguments[0]);
    long count = atol(arguments[3]);
    char *line = stream.buffer;
    http_send(&stream, "GET", "/v1/events", NULL);
    for (size_t length = 0; count > 0;) {
        ssize_t got = read(stream.socket, stream.buffer + length, stream.capacity - length - 1);
        int64_t time = now();
        if (got <= 0)
            die("the stream ended", got < 0 ? strerror(errno) : "end of file");
        /* After the first bytes of the stream, every later event will be in the stream. */
        if (length == 0 && line == stream.buffer && connection.status == 0) {
            send_submission(&connection, "/v1/requests", arguments[1], atoll(arguments[2]));
            while (!http_read(&connection)) {
            }
            check_accepted(&connection);
        }
        length += (size_t)got;
        stream.buffer[length] = 0;
        char *end;
        while ((end = strstr(line, "\n")) != NULL) {
            *end = 0;
            char *completed = strstr(line, "\"event\":\"progress\"") ? strstr(line, "\"completed\":") : NULL;
            if (completed && count > 0) {
                printf("%lld\n", (long long)(time - strtoll(completed + 12, NULL, 10)));
                count--;
            }
            line = end + 1;
        }
        length -= (size_t)(line - stream.buffer);
        memmove(stream.buffer, line, length + 1);
        line = stream.buffer;
    }
    return 0;
}

static int together(char **arguments) {
    int64_t first = atoll(arguments[3]);
    long count = atol(arguments[4]);
    int64_t start = now();
    submit_all(arguments[0], "/v1/requests", arguments[2], first, count, count, NULL);
    last_stamp(arguments[1], first, count);
    struct stamp stamp;
    int file = open(arguments[1], O_RDONLY | O_CLOEXEC);
    for (off_t at = 0; pread(file, &stamp, sizeof stamp, at) == sizeof stamp; at += (off_t)sizeof stamp)
        if (stamp.number >= first && stamp.number < first + count)
            printf("%lld\n", (long long)(stamp.time - start));
    close(file);
    return 0;
}

static int hold(char **arguments) {
    int64_t first = atoll(arguments[3]);
    long count = atol(arguments[4]);
    int64_t start = now();
    submit_all(arguments[0], "/v1/launches", arguments[2], first, count, atol(arguments[5]), NULL);
    last_stamp(arguments[1], first, count);
    printf("%.6f\n", (double)(now() - start) / 1e9);
    return 0;
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        int arguments;
        int (*run)(char **);
    } commands[] = {{"submit", 5, submit},    {"one", 6, one_by_one}, {"burst", 6, burst},
                    {"expire", 5, expire},    {"follow", 4, follow},  {"hold", 6, hold},
                    {"together", 5, together}};
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    for (size_t i = 0; count > 1 && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(arguments[1], commands[i].name) == 0 && count == commands[i].arguments + 2)
            return commands[i].run(arguments + 2);
    die("usage", "see the head of load.c");
}
