/* The file of a download, in the directory of all transfers. N is the number of the transfer:
 *
 * - `N.part`: what has arrived;
 * - `N.resume`: what the server said about the file, and how many bytes are on the disk; missing for small
 *   files;
 * - `N.data`: the complete file, which is durable under this name.
 *
 * A killed program leaves an `N.part` that is right as far as it is long. After a crash of the machine, only
 * the bytes that `N.resume` counts are certain. */
#ifndef BGTASK_TRANSFER_PARTIAL_H
#define BGTASK_TRANSFER_PARTIAL_H

#include "transfer.h"

/** Remembers the boot of the machine; call it before the sandbox applies. */
void partial_learn_boot(void);
/** Opens what an earlier attempt left, or makes an empty file. `*finished` becomes the size of the complete
 * file, if there is one; otherwise, it stays unchanged. On failure, returns false, with errno set. */
bool partial_open(struct partial *partial, int root, uint64_t id, int64_t *finished);
/** Makes an empty file, and removes what an earlier attempt left. On failure, returns false, with errno
 * set. */
bool partial_create(struct partial *partial, int root, uint64_t id);
/** Closes the file; what was appended counts no more. */
void partial_close(struct partial *partial);
/** Whether an earlier attempt received all bytes, but was killed before it finished the file. */
bool partial_is_complete(const struct partial *partial);
/** Whether the rest can be requested instead of the whole file. */
bool partial_can_resume(const struct partial *partial);
/** Forgets everything that has arrived; waits for the disk if there is a record. On failure, returns false,
 * with errno set. */
bool partial_discard(struct partial *partial);
/** Keeps what has arrived for the next attempt, until the machine crashes, or forgets it if the rest can't be
 * requested. Does not wait for the disk unless there is a record. */
void partial_leave(struct partial *partial);
/** Appends bytes. On failure, returns false, with errno set. */
bool partial_append(struct partial *partial, const void *bytes, size_t length);

/* The functions below wait for the disk, so a thread of their own calls them. */

/** Makes the first `size` bytes durable, and then a new record about them, which does not count yet. If the
 * bytes could not be written, `has_lost_bytes` becomes true. The kernel tells this only once, so then the
 * file must be discarded. */
bool partial_prepare_record(struct partial *partial, int64_t size);
/** Puts the new record into force; does not wait for the disk. */
bool partial_publish_record(const struct partial *partial);
/** Makes the file durable, then gives it its final name, and makes that durable, too, if the host keeps
 * it. `has_lost_bytes` as above. */
bool partial_finish(struct partial *partial);
/** Whether finishing the file needs only its sync and its final name, so that one sync of the file system can
 * serve many such files. */
bool partial_is_plain(const struct partial *partial);
/** Gives a plain file whose bytes are durable its final name. */
bool partial_name(const struct partial *partial);

#endif
