#define _GNU_SOURCE
#include "CLocks.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

// The number is not kept in a thread's variable, because a forked process has a new one.
static uint32_t thread_number(void) {
    return (uint32_t)syscall(SYS_gettid);
}

static int futex(uint32_t *word, int operation) {
    for (;;) {
        if (syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0) == 0)
            return 0;
        if (errno != EINTR && errno != EAGAIN)
            return errno;
    }
}

static bool replace(uint32_t *word, uint32_t old, uint32_t new, int order) {
    return __atomic_compare_exchange_n(word, &old, new, false, order, __ATOMIC_RELAXED);
}

int bgtask_lock_lock(uint32_t *word) {
    return replace(word, 0, thread_number(), __ATOMIC_ACQUIRE) ? 0 : futex(word, FUTEX_LOCK_PI);
}

int bgtask_lock_try(uint32_t *word) {
    return replace(word, 0, thread_number(), __ATOMIC_ACQUIRE);
}

int bgtask_lock_unlock(uint32_t *word) {
    return replace(word, thread_number(), 0, __ATOMIC_RELEASE) ? 0 : futex(word, FUTEX_UNLOCK_PI);
}

int bgtask_lock_is_mine(const uint32_t *word) {
    return (__atomic_load_n(word, __ATOMIC_RELAXED) & FUTEX_TID_MASK) == thread_number();
}
