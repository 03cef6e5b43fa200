/* bgtask-runner: what loads a plugin. Started by bgtaskd as `launcher`, and by itself as `template` and `task`.
 *
 * Descriptors: the launcher has the host's socket at 3, a template its launcher's at 3, a task its control
 * pipe at 3 and its report pipe at 4. Exit statuses: 0; 64 wrong arguments; 69 the plugin can't be loaded; 70
 * a broken rule of
 * the protocol; 71 a system call that was refused. */
#include "frames_command.h"
#include "launcher.h"
#include "task.h"
#include "template.h"

#include <stdio.h>
#include <string.h>

int main(int count, char **arguments) {
    const char *role = count > 1 ? arguments[1] : "";
    if (strcmp(role, "launcher") == 0 && count == 2)
        return launcher_main(NULL);
    if (strcmp(role, "launcher") == 0 && count == 4 && strcmp(arguments[2], "--lock") == 0)
        return launcher_main(arguments[3]);
    if (strcmp(role, "template") == 0 && count <= 3)
        return template_main(count == 3 ? arguments[2] : NULL);
    if (strcmp(role, "task") == 0)
        return task_main(count - 2, arguments + 2);
    if (strcmp(role, "frames") == 0 && count == 2)
        return frames_main();
    fprintf(stderr,
            "bgtask-runner is started by bgtaskd: bgtask-runner launcher [--lock FILE], the host's socket at "
            "descriptor 3\n");
    return 64;
}
