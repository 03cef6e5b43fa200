/* The ABI is a header; a C target needs one source file. */
#include "bgtask.h"

_Static_assert(sizeof(((bgtask_host *)0)->abi_version) == 4, "the ABI version is 32 bits wide");
