/* A constructor takes 100 MiB of memory and waits: in the first process that loads the library if the
 * variable GRABS is "first", otherwise in the second one. The file "loaded" shows that there was a first
 * one. */
#include "fixture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((constructor)) static void at_load(void) {
    const char *which = getenv("GRABS");
    int file = open("loaded", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), is_first = file >= 0;
    if (is_first)
        close(file);
    if (is_first != (which != NULL && strcmp(which, "first") == 0))
        return;
    size_t size = (size_t)100 << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
        memset(memory, 1, size);
    pause();
}

static void run(bgtask_task *task, const bgtask_host *host) {
    host->complete(task, 1, NULL);
}
