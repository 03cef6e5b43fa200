/* A C target needs at least one source file, although the ABI consists of a header only. */
#include "bgtask.h"

_Static_assert(sizeof(((bgtask_host *)0)->abi_version) == 4, "the ABI version is 32 bits wide");
