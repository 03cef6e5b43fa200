/* Runs a command from its start to the completion of the task: starts the program, obeys its lines, stops it
 * when the launch expires, and makes an outcome of its exit. */
#include "command.h"

#include "process.h"
#include "task_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static struct {
    bgtask_task *task;
    const bgtask_host *host;
    char **words; /* The program as the manifest names it, and its arguments. */
    char program[PATH_MAX];
    char directory[PATH_MAX];
    char expired[PATH_MAX]; /* The file that exists as soon as the launch expires. */
    const uint8_t *success; /* The exit statuses that mean success, one byte each. */
    size_t success_count;
    int stop_signal;
    bool stops_group;
    bool reads_payload;
    bool shows_progress; /* Whether its output is searched for progress. */

    pthread_mutex_t lock; /* Guards the members below: the control thread stops the program. */
    pid_t process;        /* 0 while the program does not run. */
    bool is_stopping;
    int64_t deadline; /* Of the expiration, in nanoseconds on CLOCK_MONOTONIC. */
} command = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* MARK: Expiration */

static void send_stop_signal(void) {
    if (command.process > 0)
        kill(command.stops_group ? -command.process : command.process, command.stop_signal);
}

/* Writes the reason and the remaining milliseconds, for scripts that look for the file instead of handling
 * the signal. */
static void write_expired(const bgtask_expiration *expiration) {
    int file = open(command.expired, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    int64_t left = (expiration->deadline_nanoseconds - now_nanoseconds()) / 1000000;
    dprintf(file, "%s %lld\n", expiration->reason, (long long)(left > 0 ? left : 0));
    close(file);
}

/* Called on the control thread when the launch expires. */
static void expire(bgtask_task *task, const bgtask_expiration *expiration, void *context) {
    (void)task;
    (void)context;
    write_expired(expiration);
    pthread_mutex_lock(&command.lock);
    command.is_stopping = true;
    command.deadline = expiration->deadline_nanoseconds;
    send_stop_signal();
    pthread_mutex_unlock(&command.lock);
}

/* MARK: Preparing */

static char finding[PATH_MAX + 512];

/* Returns all texts with a tag as a list that ends with NULL; NULL if there is no memory. */
static char **list_of(struct body body, uint8_t wanted) {
    size_t count = 0;
    uint8_t tag;
    struct value value;
    for (size_t at = 0; body_next(body, &at, &tag, &value);)
        count += tag == wanted;
    char **texts = calloc(count + 1, sizeof(*texts));
    size_t filled = 0;
    for (size_t at = 0; texts != NULL && body_next(body, &at, &tag, &value);)
        if (tag == wanted && (texts[filled++] = strndup((const char *)value.bytes, value.length)) == NULL)
            return NULL;
    return texts;
}

/* Sets the variables that every command gets, and those of the manifest. */
static bool set_environment(const bgtask_launch *launch, char **variables) {
    char text[PATH_MAX];
    struct {
        const char *name;
        const char *format;
        long long number;
    } numbers[] = {{"BGTASK_LAUNCH", "L%lld", (long long)launch->launch_id},
                   {"BGTASK_REQUEST", "R%lld", (long long)launch->request_id},
                   {"BGTASK_ATTEMPT", "%lld", (long long)launch->attempt},
                   {"BGTASK_CONTROL", "%lld", COMMAND_CONTROL}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        snprintf(text, sizeof(text), numbers[i].format, numbers[i].number);
        if (setenv(numbers[i].name, text, 1) != 0)
            return false;
    }
    if (setenv("BGTASK_IDENTIFIER", launch->identifier, 1) != 0 ||
        setenv("BGTASK_BUNDLE", launch->bundle, 1) != 0 || setenv("BGTASK_EXPIRED", command.expired, 1) != 0)
        return false;
    for (size_t i = 0; variables[i] != NULL; i++)
        if (putenv(variables[i]) != 0)
            return false;
    return true;
}

/* Writes the checkpoint of the last attempt to a file, which BGTASK_CHECKPOINT then names. */
static bool write_checkpoint(const bgtask_launch *launch) {
    if (launch->checkpoint == NULL)
        return true;
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/.bgtask-checkpoint", launch->temporary_directory);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    size_t done = 0;
    ssize_t count = 0;
    while (done < launch->checkpoint_length && count >= 0) {
        count = write(file, (const char *)launch->checkpoint + done, launch->checkpoint_length - done);
        done += count > 0 ? (size_t)count : 0;
    }
    close(file);
    return count >= 0 && setenv("BGTASK_CHECKPOINT", path, 1) == 0;
}

/* Looks for a program without a slash. A PATH that the manifest sets is for the program itself: the host has
 * checked who can change the program, and looked only here. */
static bool find_program(const char *name) {
    static const char *const directories[] = {"/usr/local/bin", "/usr/bin", "/bin"};
    if (strchr(name, '/') != NULL) {
        snprintf(command.program, sizeof(command.program), "%s", name);
        return true;
    }
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
        struct stat status;
        snprintf(command.program, sizeof(command.program), "%s/%s", directories[i], name);
        if (stat(command.program, &status) == 0 && S_ISREG(status.st_mode) &&
            access(command.program, X_OK) == 0)
            return true;
    }
    snprintf(
        finding, sizeof(finding),
        "there is no program '%.200s' in /usr/local/bin, /usr/bin and /bin. Name it by its path, or install "
        "it",
        name);
    return false;
}

static const char *check_program(void) {
    struct stat status;
    if (stat(command.program, &status) != 0)
        snprintf(finding, sizeof(finding), "the program '%s' can't be found: %s%s", command.program,
                 strerror(errno), errno == EACCES ? ". Add its directory to 'read' of the sandbox" : "");
    else if (!S_ISREG(status.st_mode))
        snprintf(finding, sizeof(finding), "the program '%s' is not a file", command.program);
    else if (access(command.program, X_OK) != 0)
        snprintf(finding, sizeof(finding), "the program '%s' is not executable: chmod +x makes it so",
                 command.program);
    else if (stat(command.directory, &status) != 0)
        snprintf(finding, sizeof(finding), "the directory '%s' can't be used: %s", command.directory,
                 strerror(errno));
    else
        return NULL;
    return finding;
}

const char *command_prepare(bgtask_task *task, const bgtask_host *host, struct body message) {
    const bgtask_launch *launch = host->launch(task);
    command.task = task;
    command.host = host;
    command.words = list_of(message, 1);
    char **variables = list_of(message, 2);
    char *directory = body_text(message, 3);
    struct value success = {0};
    body_find(message, 5, &success);
    command.success = success.bytes;
    command.success_count = success.length;
    command.reads_payload = body_number(message, 4, 0) != 0;
    command.stop_signal = (int)body_number(message, 6, SIGTERM);
    command.stops_group = body_number(message, 7, 0) != 0;
    if (command.words == NULL || command.words[0] == NULL || variables == NULL || directory == NULL)
        return "the command from the host is incomplete, or there is no memory for it";
    snprintf(command.directory, sizeof(command.directory), "%s", directory);
    free(directory);
    snprintf(command.expired, sizeof(command.expired), "%s/.bgtask-expired", launch->temporary_directory);
    if (!set_environment(launch, variables) || !write_checkpoint(launch)) {
        snprintf(finding, sizeof(finding), "the command can't be prepared: %s", strerror(errno));
        return finding;
    }
    char *pattern = body_text(message, 8);
    command.shows_progress = pattern != NULL;
    if (pattern != NULL && !command_output_set_pattern(pattern))
        return "the pattern of 'progress' is not a regular expression of this machine's C library";
    free(pattern);
    if (!find_program(command.words[0]))
        return finding;
    const char *why = check_program();
    if (why != NULL)
        return why;
    // Processes whose parent has ended become children of this one, so that it can wait for all of them.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    // The handler must be set before *ready* is sent, because an expire frame may follow immediately.
    host->set_expiration_handler(task, expire, NULL);
    return NULL;
}

/* MARK: The program */

/* Returns a descriptor with the payload for standard input, or with nothing. */
static int open_input(const bgtask_launch *launch) {
    if (!command.reads_payload || launch->payload == NULL)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    int file = memfd_create("payload", MFD_CLOEXEC);
    // Where the host counts memory itself, the sandbox forbids such files.
    if (file < 0 && errno == ENOSYS)
        file = open(launch->temporary_directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 &&
        write(file, launch->payload, launch->payload_length) != (ssize_t)launch->payload_length) {
        close(file);
        return -1;
    }
    if (file >= 0)
        lseek(file, 0, SEEK_SET);
    return file;
}

/* The pipes from the program: its control lines, and its output if that is searched for progress. The
 * descriptors are -1 where there is no pipe. */
enum { CONTROL, OUTPUT, ERRORS, PIPE_COUNT };
struct pipes {
    int ends[PIPE_COUNT][2];
};

static bool open_pipes(struct pipes *pipes) {
    for (int i = 0; i < PIPE_COUNT; i++)
        pipes->ends[i][0] = pipes->ends[i][1] = -1;
    for (int i = 0; i < (command.shows_progress ? PIPE_COUNT : 1); i++)
        if (pipe2(pipes->ends[i], O_CLOEXEC) != 0 || fcntl(pipes->ends[i][0], F_SETFL, O_NONBLOCK) != 0)
            return false;
    return true;
}

/* Starts the program in a process group of its own. Returns 0, or an errno. */
static int start(int input, const struct pipes *pipes) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    if (command.shows_progress) {
        posix_spawn_file_actions_adddup2(&files, pipes->ends[OUTPUT][1], STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&files, pipes->ends[ERRORS][1], STDERR_FILENO);
    }
    posix_spawn_file_actions_adddup2(&files, pipes->ends[CONTROL][1], COMMAND_CONTROL);
    posix_spawn_file_actions_addchdir_np(&files, command.directory);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    pid_t process = 0;
    int code = posix_spawn(&process, command.program, &files, &attributes, command.words, environ);
    if (code == 0)
        command.process = process;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return code;
}

/* Takes the exit statuses of all children that have ended. Returns whether the program is one of them. */
static bool reap(int *status) {
    bool has_ended = false;
    siginfo_t child;
    for (;;) {
        child.si_pid = 0;
        if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) != 0 || child.si_pid == 0)
            return has_ended;
        // Once the child is reaped, another process may get its number, so no signal may follow.
        pthread_mutex_lock(&command.lock);
        int ended;
        if (waitpid(child.si_pid, &ended, 0) == command.process) {
            *status = ended;
            command.process = 0;
            has_ended = true;
        }
        pthread_mutex_unlock(&command.lock);
    }
}

/* How long before its deadline the task completes, although processes of the program still run: long enough
 * for the message to arrive before the host kills the task. Our choice. */
#define END_BEFORE_DEADLINE_NANOSECONDS 300000000

/* Asks every process that the program left behind to stop. They are children of this process, because it is
 * their subreaper, or will be when their parents have ended. Only this thread reaps them, so their numbers
 * are not used again meanwhile. */
static void stop_rest(void) {
    char path[64], numbers[4096];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)gettid());
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, numbers, sizeof(numbers) - 1);
    if (file >= 0)
        close(file);
    numbers[length > 0 ? length : 0] = 0;
    char *at = numbers;
    for (long number; (number = strtol(at, &at, 10)) > 0;)
        kill((pid_t)number, command.stop_signal);
}

/* Returns how long the rest of an expired program may still run, in milliseconds: 0 if it has ended or the
 * deadline is near, or if the launch does not expire. */
static int time_for_rest(void) {
    siginfo_t child;
    if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) != 0)
        return 0;
    pthread_mutex_lock(&command.lock);
    int64_t left =
        command.is_stopping ? command.deadline - END_BEFORE_DEADLINE_NANOSECONDS - now_nanoseconds() : 0;
    pthread_mutex_unlock(&command.lock);
    left /= 1000000;
    return left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

/* What the program has written, by pipe. */
struct words {
    struct command_lines lines;
    struct command_output outputs[PIPE_COUNT];
};

/* Reads what a pipe contains. Returns false at its end. */
static bool read_pipe(struct words *words, const struct pipes *pipes, int number) {
    int pipe = pipes->ends[number][0];
    return number == CONTROL ? command_lines_read(&words->lines, pipe, command.task, command.host)
                             : command_output_read(&words->outputs[number], pipe, command.task, command.host);
}

/* Obeys the program's lines until the program ends and, if the launch expires, until the processes that it
 * started have ended, too: a shell that a signal ended may have left the worker that saves a checkpoint. */
static int wait_for_end(const struct pipes *pipes, int children) {
    struct words words = {0};
    bool has_ended = false;
    struct pollfd sources[1 + PIPE_COUNT] = {{.fd = children, .events = POLLIN}};
    for (int i = 0; i < PIPE_COUNT; i++) {
        bool has_room = i == CONTROL ? command_lines_begin(&words.lines)
                                     : command_output_begin(&words.outputs[i], i == OUTPUT ? 1 : 2);
        sources[1 + i] = (struct pollfd){.fd = has_room ? pipes->ends[i][0] : -1, .events = POLLIN};
    }
    int status = 0, left = -1;
    while (!has_ended || (left = time_for_rest()) > 0) {
        for (int i = 0; i <= PIPE_COUNT; i++)
            sources[i].revents = 0;
        poll(sources, 1 + PIPE_COUNT, left);
        if (sources[0].revents != 0) {
            struct signalfd_siginfo news;
            while (read(children, &news, sizeof(news)) > 0)
                continue;
            has_ended = reap(&status) || has_ended;
            if (has_ended && time_for_rest() > 0)
                stop_rest();
        }
        // After the program's end, too: its last lines may still be in the pipe.
        for (int i = 0; i < PIPE_COUNT; i++)
            if ((sources[1 + i].revents != 0 || has_ended) && sources[1 + i].fd >= 0 &&
                !read_pipe(&words, pipes, i))
                sources[1 + i].fd = -1;
    }
    for (int i = OUTPUT; i < PIPE_COUNT; i++)
        command_output_end(&words.outputs[i], command.task, command.host);
    free(words.lines.bytes);
    return status;
}

/* MARK: The outcome */

static void complete(int status) {
    pthread_mutex_lock(&command.lock);
    bool is_stopping = command.is_stopping;
    pthread_mutex_unlock(&command.lock);
    char text[256];
    if (WIFSIGNALED(status)) {
        snprintf(text, sizeof(text), "the program was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else {
        int code = WEXITSTATUS(status);
        task_note_exit_status(command.task, (uint8_t)code);
        if (memchr(command.success, code, command.success_count) != NULL) {
            command.host->complete(command.task, 1, NULL);
            return;
        }
        snprintf(text, sizeof(text), "the program ended with exit status %d", code);
    }
    // A program that was asked to stop has not failed. Without a completion, the host puts the request back.
    if (is_stopping)
        command.host->log(command.task, BGTASK_LOG_INFO, text);
    else
        command.host->complete(command.task, 0, text);
}

static void fail(const char *step, int code) {
    if (code == EACCES && command.directory[0] != '\0' && access(command.directory, X_OK) != 0)
        snprintf(finding, sizeof(finding),
                 "the job's user can't enter its working directory '%s': %s. Permit it with setfacl or chmod",
                 command.directory, strerror(code));
    else
        snprintf(finding, sizeof(finding), "%s '%s': %s%s", step, command.program, strerror(code),
                 code == EACCES ? ". The sandbox must permit to read the program and its interpreter" : "");
    command.host->complete(command.task, 0, finding);
}

void command_run(void) {
    // SIGCHLD is read from a descriptor.
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    int children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    struct pipes pipes;
    int input = open_input(command.host->launch(command.task));
    if (children < 0 || input < 0 || !open_pipes(&pipes))
        return fail("there are no descriptors for the program", errno);
    pthread_mutex_lock(&command.lock);
    int code = command.is_stopping ? ECANCELED : start(input, &pipes);
    pthread_mutex_unlock(&command.lock);
    for (int i = 0; i < PIPE_COUNT; i++)
        if (pipes.ends[i][1] >= 0)
            close(pipes.ends[i][1]);
    close(input);
    // Without a completion, the host puts the request back.
    if (code == ECANCELED)
        return;
    if (code != 0)
        return fail("the system can't start the program", code);
    // The host ends the processes that are left when the task has completed.
    complete(wait_for_end(&pipes, children));
}
