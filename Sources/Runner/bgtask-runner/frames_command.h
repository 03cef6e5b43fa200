/* `bgtask-runner frames`: runs only the codec, for the tests that give the same files to both codecs. */
#ifndef BGTASK_RUNNER_FRAMES_COMMAND_H
#define BGTASK_RUNNER_FRAMES_COMMAND_H

/** Decodes a stream on stdin, and writes each frame to stdout after encoding it again. Unknown frames and
 *  fields are left out. Returns 0 if the stream is valid, 70 after a violation, which is printed on
 *  stderr, and 74 after an I/O error. */
int frames_main(void);

#endif
