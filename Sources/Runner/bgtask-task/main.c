/* bgtask-task: what a command of the host says to it, for scripts. It writes the lines that
 * Documentation/Command.md describes to the descriptor in BGTASK_CONTROL. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EXIT_WRONG_USE = 2,         /* As of bgtask. */
    CHECKPOINT_MAX = 49152,     /* Bytes: BGTASK_BLOB_MAX of bgtask.h. */
    LINE_MAX_BYTES = 65536 + 64 /* A checkpoint in base64, and its word. */
};

static const char help[] =
    "Tells the host about the job of a script. It works in programs that a 'command:' of a manifest starts.\n"
    "\n"
    "  bgtask-task progress COMPLETED TOTAL [TEXT]   what the job has done; TOTAL 0: it is not known\n"
    "  bgtask-task progress PERCENT% [TEXT]\n"
    "  bgtask-task expired                           exits with 0 if the job must end, else with 1\n"
    "  bgtask-task checkpoint [TEXT]                 saves TEXT, or standard input, for the next attempt\n"
    "  bgtask-task restore                           prints what the last attempt saved; exits with 1 if\n"
    "                                                it saved nothing\n"
    "  bgtask-task log LEVEL TEXT                    a line in the log of the launch; the level is debug,\n"
    "                                                info, notice, warning or error\n"
    "  bgtask-task title TITLE [SUBTITLE]            the title of a continued task\n"
    "\n"
    "Example of a script that goes on where it was stopped:\n"
    "\n"
    "  trap '' TERM\n"
    "  first=$(bgtask-task restore || echo 1)\n"
    "  for page in $(seq \"$first\" 100); do\n"
    "      bgtask-task expired && exit 75\n"
    "      ./convert \"$page\"\n"
    "      bgtask-task progress \"$page\" 100\n"
    "      bgtask-task checkpoint $((page + 1))\n"
    "  done\n"
    "\n"
    "Outside a job, 'expired' and 'restore' exit with 1, and the others print what they would say.\n";

static int wrong_use(const char *finding, const char *remedy) {
    fprintf(stderr, "bgtask-task: %s. %s.\n", finding, remedy);
    return EXIT_WRONG_USE;
}

static int failed(const char *what) {
    fprintf(stderr, "bgtask-task: %s: %s.\n", what, strerror(errno));
    return 1;
}

/* MARK: Lines */

static char line[LINE_MAX_BYTES];
static size_t length;

/* Adds text to the line; control characters become spaces, except a tab that the caller adds. Returns false
 * if there is no room. */
static bool add(const char *text) {
    size_t count = strlen(text);
    if (count >= sizeof(line) - length - 1)
        return false;
    for (size_t i = 0; i < count; i++)
        line[length++] = (unsigned char)text[i] < 0x20 ? ' ' : text[i];
    return true;
}

/* Sends the line. All of it is one write, so that lines of several processes do not mix as long as they have
 * at most PIPE_BUF bytes. */
static int send_line(void) {
    const char *control = getenv("BGTASK_CONTROL");
    if (control == NULL) {
        fprintf(stderr, "bgtask-task: %.*s\n", (int)length, line);
        return 0;
    }
    char *end;
    long descriptor = strtol(control, &end, 10);
    if (*control == 0 || *end != 0 || descriptor < 0 || descriptor > 1 << 20)
        return wrong_use("BGTASK_CONTROL is not the number of a descriptor", "Do not change this variable");
    line[length++] = '\n';
    for (size_t done = 0; done < length;) {
        ssize_t count = write((int)descriptor, line + done, length - done);
        if (count < 0 && errno != EINTR)
            return failed("the host can't be told by the descriptor in BGTASK_CONTROL");
        done += count > 0 ? (size_t)count : 0;
    }
    return 0;
}

/* Sends a word and the arguments with spaces between them. */
static int send_words(const char *word, char **arguments) {
    bool fits = add(word);
    for (; *arguments != NULL; arguments++)
        fits = fits && add(" ") && add(*arguments);
    return fits ? send_line() : wrong_use("the text is too long", "Shorten it");
}

/* MARK: Commands */

/* Whether a text is a decimal number that fits into 64 bits, followed by `rest`. */
static bool is_number(const char *text, const char *rest) {
    char *end;
    errno = 0;
    if (*text < '0' || *text > '9')
        return false;
    strtoll(text, &end, 10);
    return errno == 0 && strcmp(end, rest) == 0;
}

static int progress(char **arguments) {
    bool is_percent = arguments[0] != NULL && is_number(arguments[0], "%");
    bool is_count = arguments[0] != NULL && is_number(arguments[0], "") && arguments[1] != NULL &&
                    is_number(arguments[1], "");
    if (!is_percent && !is_count)
        return wrong_use("not a progress", "Write: bgtask-task progress 3 10 [TEXT], or progress 30% [TEXT]");
    return send_words("progress", arguments);
}

static int log_line(char **arguments) {
    static const char *const levels[] = {"debug", "info", "notice", "warning", "error"};
    for (size_t i = 0; arguments[0] != NULL && arguments[1] != NULL && i < sizeof(levels) / sizeof(*levels);
         i++)
        if (strcmp(arguments[0], levels[i]) == 0)
            return send_words("log", arguments);
    return wrong_use(
        "not a log line",
        "Write: bgtask-task log LEVEL TEXT, with the level debug, info, notice, warning or error");
}

static int title(char **arguments) {
    if (arguments[0] == NULL || arguments[0][0] == 0 || (arguments[1] != NULL && arguments[2] != NULL))
        return wrong_use("not a title",
                         "Write: bgtask-task title TITLE [SUBTITLE], with quotation marks around each");
    bool fits = add("title ") && add(arguments[0]);
    if (fits && arguments[1] != NULL) {
        line[length++] = '\t';
        fits = add(arguments[1]);
    }
    return fits ? send_line() : wrong_use("the title is too long", "Shorten it");
}

/* Adds bytes to the line as base64. */
static void add_encoded(const uint8_t *bytes, size_t count) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        uint32_t bits = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (left > 2 ? (uint32_t)bytes[i + 2] : 0);
        line[length++] = digits[bits >> 18];
        line[length++] = digits[bits >> 12 & 63];
        line[length++] = left > 1 ? digits[bits >> 6 & 63] : '=';
        line[length++] = left > 2 ? digits[bits & 63] : '=';
    }
}

static int checkpoint(char **arguments) {
    static uint8_t bytes[CHECKPOINT_MAX + 1];
    size_t count = 0;
    if (arguments[0] != NULL && arguments[1] != NULL)
        return wrong_use("a checkpoint is one text", "Put quotation marks around it, or use standard input");
    if (arguments[0] != NULL) {
        count = strnlen(arguments[0], sizeof(bytes));
        memcpy(bytes, arguments[0], count);
    } else {
        ssize_t part;
        while (count < sizeof(bytes) &&
               (part = read(STDIN_FILENO, bytes + count, sizeof(bytes) - count)) != 0) {
            if (part < 0 && errno != EINTR)
                return failed("standard input can't be read");
            count += part > 0 ? (size_t)part : 0;
        }
    }
    if (count > CHECKPOINT_MAX)
        return wrong_use("a checkpoint has at most 49152 bytes", "Save the bytes in a file in $HOME");
    add("checkpoint ");
    add_encoded(bytes, count);
    return send_line();
}

static int restore(void) {
    const char *path = getenv("BGTASK_CHECKPOINT");
    if (path == NULL)
        return 1;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return failed("the checkpoint can't be read");
    char bytes[4096];
    size_t count;
    while ((count = fread(bytes, 1, sizeof(bytes), file)) > 0)
        fwrite(bytes, 1, count, stdout);
    bool is_read = !ferror(file);
    fclose(file);
    return is_read && fflush(stdout) == 0 ? 0 : failed("the checkpoint can't be printed");
}

static int expired(void) {
    const char *path = getenv("BGTASK_EXPIRED");
    struct stat status;
    return path != NULL && stat(path, &status) == 0 ? 0 : 1;
}

int main(int count, char **arguments) {
    // If the host is gone, the write fails with a message instead.
    signal(SIGPIPE, SIG_IGN);
    const char *word = count > 1 ? arguments[1] : "";
    char **rest = arguments + (count > 1 ? 2 : 1);
    if (strcmp(word, "progress") == 0)
        return progress(rest);
    if (strcmp(word, "log") == 0)
        return log_line(rest);
    if (strcmp(word, "title") == 0)
        return title(rest);
    if (strcmp(word, "checkpoint") == 0)
        return checkpoint(rest);
    if (strcmp(word, "restore") == 0)
        return restore();
    if (strcmp(word, "expired") == 0)
        return expired();
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        return fputs(help, stdout) >= 0 && fflush(stdout) == 0 ? 0 : failed("the help can't be printed");
    if (*word == 0) {
        fputs(help, stderr);
        return EXIT_WRONG_USE;
    }
    char finding[128];
    snprintf(finding, sizeof(finding), "not a command: '%.80s'", word);
    return wrong_use(finding,
                     "Write progress, expired, checkpoint, restore, log or title; --help explains them");
}
