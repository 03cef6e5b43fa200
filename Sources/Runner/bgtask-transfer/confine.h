/* What this program may use: the network, the directory of the transfers, and what libcurl needs. */
#ifndef BGTASK_TRANSFER_CONFINE_H
#define BGTASK_TRANSFER_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Applies the layers of the sandbox to this process, which must have one thread. `layers` has bits of
 * sandbox_layer; with LAYER_USER, the process becomes `user`. If it fails, returns false with a sentence in
 * `finding`. */
bool confine(unsigned layers, uint32_t user, char *directory, char *finding, size_t size);

#endif
