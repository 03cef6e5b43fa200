/* `bgtask-runner frames`: the codec on its own, for the tests that hold both codecs to the same files. */
#ifndef BGTASK_RUNNER_FRAMES_COMMAND_H
#define BGTASK_RUNNER_FRAMES_COMMAND_H

/** Decodes a stream on stdin and writes each frame, encoded again, to stdout. A violation is printed on stderr and
 *  gives 70, the stream's proper end 0. Unknown frames and fields are left out. */
int frames_main(void);

#endif
