/* Tries the ways to end all processes of a launch, for the host's start. */
#ifndef BGTASK_RUNNER_PROBE_H
#define BGTASK_RUNNER_PROBE_H

/** Runs `bgtask-runner probe WORD`, with `pidNamespace` or `noFork`: starts a process as a task of that
 *  isolation is started, and ends it. Returns 0 if that works, else the errno of the step that failed; 64 for
 *  an unknown word. */
int probe_main(const char *word);

#endif
