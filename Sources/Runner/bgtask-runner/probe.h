/* Tries the ways to end all processes of a launch, for the host's start. */
#ifndef BGTASK_RUNNER_PROBE_H
#define BGTASK_RUNNER_PROBE_H

/** Runs `bgtask-runner probe WORD`, with `pidNamespace`, `noFork`, `reports` or a layer of the sandbox:
 * starts a process in the same way as a task with that isolation, and ends it. `user` has two more
 * arguments: the number of a user, and a directory that this user must be able to search. Returns 0 if that
 * works, else the errno of the step that failed; 64 for wrong arguments. */
int probe_main(int count, char **arguments);

#endif
