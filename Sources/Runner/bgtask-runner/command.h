/* Commands, which run the `command:` of a manifest: a program in a process of its own, which this process
 * watches (Documentation/Command.md). */
#ifndef BGTASK_RUNNER_COMMAND_H
#define BGTASK_RUNNER_COMMAND_H

#include "bgtask.h"
#include "frames.h"

/** The descriptor on which a command writes lines to the runner. A shell can write to it by `>&3`. */
enum { COMMAND_CONTROL = 3 };

/** Reads the *command* message, finds the program and sets the expiration handler. Returns NULL, or why the
 *  program can't run. Called once, on the main thread, before the control thread starts and before *ready*
 *  is sent; it corresponds to loading a plugin. `message` must stay valid. */
const char *command_prepare(bgtask_task *task, const bgtask_host *host, struct body message);

/** Starts the program, waits for its end and completes the task. It replaces the `run` function of a
 *  plugin. */
void command_run(void);

/** The most bytes that are read from a pipe before the others have their turn: what a pipe holds by default.
 * A program that writes without a pause must not hide its end, or what comes by the other pipes. */
#define COMMAND_READ_MAX 65536

/* command_lines.c */

/** Lines that a command writes, in parts of any size. */
struct command_lines {
    char *bytes;         /**< What was read of the present line; room for COMMAND_LINE_MAX bytes and a NUL. */
    size_t length;       /**< The number of these bytes. */
    bool is_skipped;     /**< Whether the present line is too long, so that the rest of it is skipped. */
    unsigned complaints; /**< How many lines were not understood. */
};

/** The length of the longest line: a checkpoint of BGTASK_BLOB_MAX bytes in base64. */
#define COMMAND_LINE_MAX (BGTASK_BLOB_MAX / 3 * 4 + 64)

/** Makes room for a line. Returns false if there is no memory. */
bool command_lines_begin(struct command_lines *lines);

/** Reads what the pipe contains, at most COMMAND_READ_MAX bytes, and obeys each complete line. Returns false
 * at the end of the pipe. The pipe must not block. */
bool command_lines_read(struct command_lines *lines, int pipe, bgtask_task *task, const bgtask_host *host);

/* command_output.c */

/** One stream of a command's output, in parts of any size. */
struct command_output {
    char *bytes;     /**< What was read of the present line. */
    size_t length;   /**< The number of these bytes. */
    int target;      /**< The descriptor of the log. */
    bool is_passed;  /**< Whether the line is so long that its beginning is in the log already. */
    bool has_return; /**< Whether a carriage return followed the line. */
};

/** Sets the pattern that finds progress in the output: an extended regular expression with one or two groups.
 *  Returns false if it is not one. Called once, before the command starts. */
bool command_output_set_pattern(const char *text);

/** Makes room for a line of a stream, which goes on to a descriptor. Returns false if there is no memory. */
bool command_output_begin(struct command_output *output, int target);

/** Reads what the pipe contains, at most COMMAND_READ_MAX bytes, reports progress and passes lines on.
 * Returns false at the end of the pipe. The pipe must not block. */
bool command_output_read(struct command_output *output, int pipe, bgtask_task *task, const bgtask_host *host);

/** Passes on what is left of a line without an end, and frees the memory. */
void command_output_end(struct command_output *output, bgtask_task *task, const bgtask_host *host);

#endif
