/* The runner's file, compiled again for this program, because two targets can't share a source file. */
#include "../bgtask-runner/sandbox_signals.c"
