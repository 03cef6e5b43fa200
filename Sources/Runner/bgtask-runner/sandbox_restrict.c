/* The layers that a process applies after exec, because they forbid to execute programs. */
#include "sandbox.h"

#include <sys/prctl.h>

bool sandbox_restrict(struct sandbox *sandbox, char *finding, size_t size) {
    if (sandbox->layers == 0)
        return true;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return sandbox_refused("prctl(PR_SET_NO_NEW_PRIVS)", finding, size);
    return sandbox_restrict_files(sandbox, finding, size) && sandbox_restrict_calls(sandbox, finding, size);
}
