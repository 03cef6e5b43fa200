/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BGTASK_RUNNER_CALL_EXPECT_H
#define BGTASK_RUNNER_CALL_EXPECT_H

#include "call_program.h"

/** Whether a value fulfills the expectation of a step, or the condition of a loop. */
bool call_is_expected(const call_step *step, call_type type, const call_storage *result);

/** Writes a description such as "sqlite3_exec returned 5, expected 0"; the subject is "sqlite3_exec
 *  returned". */
void call_describe_result(const call_step *step, const char *subject, call_type type,
                          const call_storage *result, char *text, size_t size);

#endif
