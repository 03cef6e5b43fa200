/* The header of a target without code; see module.modulemap. */
#ifndef BGTASK_APPLE_SUBMODULES_H
#define BGTASK_APPLE_SUBMODULES_H
#endif
