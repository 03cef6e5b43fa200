/* A lock in one 32-bit word, for `os_unfair_lock`. The word is a futex with priority inheritance: 0 while
 * the lock is free, else the thread number of the owner, with the kernel's bit for waiting threads. */
#ifndef BGTASK_CLOCKS_H
#define BGTASK_CLOCKS_H

#include <stdint.h>

/** Waits until the lock is free, and locks it.
 *
 *  - word: the lock; it must stay at this address while it is locked.
 *
 *  Returns 0, or the error number of the kernel: EDEADLK if this thread holds the lock already. */
int bgtask_lock_lock(uint32_t *word);

/** Locks the lock if it is free; returns whether it did. */
int bgtask_lock_try(uint32_t *word);

/** Unlocks the lock; returns 0, or the error number of the kernel: EPERM if this thread does not hold it. */
int bgtask_lock_unlock(uint32_t *word);

/** Whether this thread holds the lock. */
int bgtask_lock_is_mine(const uint32_t *word);

#endif
