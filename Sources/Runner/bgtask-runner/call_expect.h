/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BGTASK_RUNNER_CALL_EXPECT_H
#define BGTASK_RUNNER_CALL_EXPECT_H

#include "call_program.h"

/** Whether the result of a step fulfills the expectation of the manifest. */
bool call_is_expected(const call_step *step, const call_storage *result);

/** Writes a description such as "sqlite3_exec returned 5, expected 0". */
void call_describe_result(const call_step *step, const call_storage *result, char *text, size_t size);

#endif
