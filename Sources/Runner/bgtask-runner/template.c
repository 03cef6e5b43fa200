/* The template: loads a plugin once, and clones itself for each task. The only code of the plugin that it
 * runs is the constructors, which dlopen calls. */
#include "template.h"
#include "isolation.h"
#include "process.h"
#include "sample.h"
#include "task.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOCKET 3
/* The descriptor on which a standby waits for its launch; it follows a task's own descriptors. */
#define STANDBY_SOCKET (TASK_REPORT + 1)

/* Returns the number of entries of a /proc directory; 0 if it cannot be read. */
static int count_entries(const char *path) {
    DIR *directory = opendir(path);
    if (directory == NULL)
        return 0;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

/* Whether this process has a child, which a constructor must have started. */
static bool has_child(void) {
    char path[64], text[2];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool found = read(file, text, 1) == 1;
    close(file);
    return found;
}

/* Whether tasks must not be cloned from this process; `finding` then says why. */
static bool is_dirty(int descriptors_before, char *finding, size_t size) {
    int threads = count_entries("/proc/self/task"), descriptors = count_entries("/proc/self/fd");
    if (!process_clone_is_complete())
        snprintf(finding, size, "the kernel does not report where glibc keeps the thread id");
    else if (threads != 1)
        snprintf(finding, size,
                 "after the plugin was loaded, there are %d threads: one of its constructors started one",
                 threads);
    else if (descriptors != descriptors_before)
        snprintf(
            finding, size,
            "after the plugin was loaded, %d descriptors are open instead of %d: its constructors changed "
            "them",
            descriptors, descriptors_before);
    else if (has_child())
        snprintf(
            finding, size,
            "after the plugin was loaded, there is a child process: one of its constructors started one");
    else
        return false;
    return true;
}

/* MARK: Clones */

/* Turns the clone into a task. */
static _Noreturn void become_task(const struct clone_request *request, const int *descriptors, int status,
                                  void *library, int64_t since) {
    char finding[512];
    int report = descriptors[CLONE_REPORT];
    if (status >= 0 && !process_become_init(status, geteuid() != 0)) {
        int code = errno;
        snprintf(finding, sizeof(finding), "the first process of the PID namespace can't be set up: %s (%d)",
                 strerror(code), code);
        task_refuse_call(report, finding, code);
    }
    int places[] = {STDIN_FILENO, descriptors[CLONE_STDOUT], descriptors[CLONE_STDERR],
                    descriptors[CLONE_CONTROL], report};
    if (!isolation_arrange_descriptors(places, 5)) {
        int code = errno;
        snprintf(finding, sizeof(finding), "the task's descriptors can't be set up: %s (%d)", strerror(code),
                 code);
        task_refuse_call(report, finding, code);
    }
    if (!isolation_enter_task(request->subprocesses, finding, sizeof(finding)))
        task_refuse(TASK_REPORT, finding);
    if (!task_prepare())
        task_refuse_call(TASK_REPORT, "the control thread can't be started", EAGAIN);
    task_enter_launch();
    task_run(library, since);
}

/* Turns the clone into a standby: does everything that does not depend on the launch, then waits for it. */
static _Noreturn void become_standby(const struct clone_request *request, const int *descriptors,
                                     void *library) {
    char finding[512];
    // The numbers of a task's pipes are occupied until the pipes arrive, so that no arriving descriptor gets
    // one of them.
    int places[] = {STDIN_FILENO, STDIN_FILENO, STDIN_FILENO,
                    STDIN_FILENO, STDIN_FILENO, descriptors[STANDBY_ASKS]};
    // If this fails, the process exits, and a new task is made for the launch.
    if (!isolation_arrange_descriptors(places, STANDBY_SOCKET + 1) ||
        !isolation_enter_task(request->subprocesses, finding, sizeof(finding)) || !task_prepare())
        _exit(71);
    struct standby_request launch;
    int pipes[CLONE_DESCRIPTORS_MAX], count;
    if (packet_receive(STANDBY_SOCKET, &launch, sizeof(launch), pipes, &count, 0) <= 0 ||
        count != CLONE_OTHERS)
        _exit(0);
    bool done = dup3(pipes[CLONE_STDOUT], STDOUT_FILENO, 0) >= 0 &&
                dup3(pipes[CLONE_STDERR], STDERR_FILENO, 0) >= 0 &&
                dup3(pipes[CLONE_CONTROL], TASK_CONTROL, O_CLOEXEC) >= 0 &&
                dup3(pipes[CLONE_REPORT], TASK_REPORT, O_CLOEXEC) >= 0;
    if (!done)
        task_refuse(pipes[CLONE_REPORT], "the task's descriptors can't be set up");
    for (int i = 0; i < count; i++)
        close(pipes[i]);
    close(STANDBY_SOCKET);
    task_enter_launch();
    task_run(library, launch.since);
}

static void clone_task(const struct clone_request *request, const int *descriptors, int count,
                       void *library) {
    int wanted = CLONE_OTHERS + (request->has_group ? 1 : 0) + (request->has_namespace ? 1 : 0);
    if (request->is_standby)
        wanted = STANDBY_DESCRIPTORS;
    struct template_answer answer = {
        .what = TEMPLATE_CLONE_FAILED, .launch = request->launch, .is_standby = request->is_standby};
    int pidfd = -1;
    if (count == wanted) {
        int group = request->has_group ? descriptors[CLONE_OTHERS] : -1;
        if (request->is_standby)
            group = descriptors[STANDBY_GROUP];
        int status = request->has_namespace ? descriptors[wanted - 1] : -1;
        int64_t since = now_nanoseconds();
        uint64_t flags = CLONE_PARENT | (status >= 0 ? process_namespace_flags() : 0);
        pid_t pid = process_clone(flags, group, &pidfd);
        if (pid == 0 && request->is_standby)
            become_standby(request, descriptors, library);
        if (pid == 0)
            become_task(request, descriptors, status, library, since);
        if (pid > 0)
            answer.what = TEMPLATE_CLONED;
        else {
            answer.code = errno;
            snprintf(answer.finding, sizeof(answer.finding),
                     "the task's process can't be created: clone3: %s (%d)", strerror(answer.code),
                     answer.code);
        }
        answer.pid = pid;
    } else {
        snprintf(answer.finding, sizeof(answer.finding), "%d descriptors arrived instead of %d", count,
                 wanted);
    }
    bool told = packet_send(SOCKET, &answer, sizeof(answer), &pidfd, pidfd >= 0 ? 1 : 0, 0);
    if (pidfd >= 0)
        close(pidfd);
    for (int i = 0; i < count; i++)
        close(descriptors[i]);
    if (!told)
        _exit(0); // the launcher has ended, or has retired this template
}

/* Why no task can be cloned from a template with this sandbox; NULL if tasks can. */
static const char *obstacle(const struct sandbox *sandbox, bool by_namespace) {
    if (sandbox->layers == 0)
        return NULL;
    if (by_namespace)
        return "a sandbox does not permit the /proc of a PID namespace: each task gets a new process";
    if (!process_has_clone3())
        return "without clone3, a confined process can't move a task to its cgroup: each task gets a new "
               "process";
    return NULL;
}

/* Isolates this process and loads the library. Returns false with a sentence in the answer if that fails. */
static bool load(bool by_namespace, const char *path, void **library, struct template_answer *answer) {
    struct sandbox sandbox;
    if (!isolation_complete_template(TEMPLATE_MESSAGE, &sandbox, answer->finding, sizeof(answer->finding)))
        return false;
    if (!packet_send_listener(SOCKET, sandbox.listener))
        _exit(0);
    const char *reason = obstacle(&sandbox, by_namespace);
    // Descriptor 4 is occupied, so that no arriving descriptor gets the number of a task's report pipe.
    if (dup3(STDIN_FILENO, TASK_REPORT, O_CLOEXEC) < 0 || !isolation_prepare_no_fork()) {
        snprintf(answer->finding, sizeof(answer->finding),
                 "the filter that forbids new processes can't be built");
        return false;
    }
    int descriptors = count_entries("/proc/self/fd");
    *library = path != NULL ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (path != NULL && *library == NULL) {
        snprintf(answer->finding, sizeof(answer->finding), "%s", dlerror());
        return false;
    }
    answer->cloneable = !is_dirty(descriptors, answer->finding, sizeof(answer->finding));
    if (answer->cloneable && reason != NULL) {
        answer->cloneable = false;
        snprintf(answer->finding, sizeof(answer->finding), "%s", reason);
    }
    return true;
}

int template_main(int count, char **arguments) {
    if (count < 1 || count > 2)
        return 64;
    fcntl(SOCKET, F_SETFD, FD_CLOEXEC);
    struct template_answer answer = {.what = TEMPLATE_LOADED};
    void *library = NULL;
    sample_prepare(); // once here, so that no task needs to load the unwinder
    bool by_namespace = strcmp(arguments[0], "pidNamespace") == 0;
    if (!load(by_namespace, count == 2 ? arguments[1] : NULL, &library, &answer))
        answer.what = TEMPLATE_LOAD_FAILED;
    if (!packet_send(SOCKET, &answer, sizeof(answer), NULL, 0, 0) || answer.what == TEMPLATE_LOAD_FAILED)
        _exit(EXIT_LOAD_FAILED);
    if (!answer.cloneable)
        _exit(0); // nothing can be cloned; every launch of this library gets a new process
    for (;;) {
        struct clone_request request;
        int descriptors[CLONE_DESCRIPTORS_MAX], received;
        if (packet_receive(SOCKET, &request, sizeof(request), descriptors, &received, 0) != 1)
            _exit(0);
        clone_task(&request, descriptors, received, library);
    }
}
