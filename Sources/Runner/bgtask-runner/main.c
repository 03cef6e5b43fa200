/* bgtask-runner loads and runs plugins. bgtaskd starts it as `launcher`; it starts itself as `template`
 * and `task`. bgtaskd also starts it as `probe`, to try an isolation; the exit status is then the errno of
 * the step that failed. Tests of the codec start it as `frames`.
 *
 * Descriptors: 3 is the socket to the host in the launcher, and the socket to the launcher in a template.
 * In a task, 3 is the control pipe and 4 is the report pipe. A template at 4, and a fresh task at 5, get the
 * message with their settings. Exit statuses: 0; 64 for wrong arguments; 69 if the plugin cannot be loaded;
 * 70 for a violation of the protocol; 71 if a system call failed; 74 for an I/O error of `frames`. */
#include "frames_command.h"
#include "launcher.h"
#include "probe.h"
#include "task.h"
#include "template.h"

#include <stdio.h>
#include <string.h>

int main(int count, char **arguments) {
    const char *role = count > 1 ? arguments[1] : "";
    if (strcmp(role, "launcher") == 0) {
        const char *lock = NULL, *groups = NULL;
        int at = 2;
        for (; at + 1 < count; at += 2)
            if (strcmp(arguments[at], "--lock") == 0)
                lock = arguments[at + 1];
            else if (strcmp(arguments[at], "--groups") == 0)
                groups = arguments[at + 1];
            else
                break;
        if (at == count)
            return launcher_main(lock, groups);
    }
    if (strcmp(role, "template") == 0)
        return template_main(count - 2, arguments + 2);
    if (strcmp(role, "task") == 0)
        return task_main(count - 2, arguments + 2);
    if (strcmp(role, "probe") == 0 && count >= 3)
        return probe_main(count - 2, arguments + 2);
    if (strcmp(role, "frames") == 0 && count == 2)
        return frames_main();
    fprintf(
        stderr,
        "bgtask-runner is not for direct use: bgtaskd starts it, as 'bgtask-runner launcher [--lock FILE] "
        "[--groups DIRECTORY]' with its socket at descriptor 3\n");
    return 64;
}
