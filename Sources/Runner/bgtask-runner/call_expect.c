/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the result of a step with its expectation, and describes a difference. */
#include "call_expect.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_floating(call_type type) {
    return type == CALL_FLOAT || type == CALL_DOUBLE;
}

static bool equals(const call_storage *result, call_type type, const call_value *value) {
    switch (value->kind) {
    case CALL_NULL:
        return call_load_integer(result, type) == 0;
    case CALL_FLOATING:
        return call_load_floating(result, type) == value->floating;
    case CALL_INTEGER:
        if (is_floating(type))
            return call_load_floating(result, type) == (double)value->integer;
        return call_load_integer(result, type) == value->integer;
    case CALL_TEXT:
    case CALL_NAME:
        break;
    }
    return false;
}

static bool reaches(const call_storage *result, call_type type, const call_value *value) {
    if (is_floating(type)) {
        double least = value->kind == CALL_FLOATING ? value->floating : (double)value->integer;
        return call_load_floating(result, type) >= least;
    }
    int64_t number = call_load_integer(result, type);
    if (call_is_unsigned(type))
        return (uint64_t)number >= (uint64_t)value->integer;
    return number >= value->integer;
}

bool call_is_expected(const call_step *step, call_type type, const call_storage *result) {
    switch (step->expect) {
    case CALL_EXPECT_ANY:
        return true;
    case CALL_EXPECT_NOT:
        return !equals(result, type, &step->expected[0]);
    case CALL_EXPECT_AT_LEAST:
        return reaches(result, type, &step->expected[0]);
    case CALL_EXPECT_ONE_OF:
        for (size_t i = 0; i < step->expected_count; i++) {
            if (equals(result, type, &step->expected[i]))
                return true;
        }
    }
    return false;
}

static size_t describe_value(const call_value *value, char *text, size_t size) {
    int length = value->kind == CALL_NULL       ? snprintf(text, size, "NULL")
                 : value->kind == CALL_FLOATING ? snprintf(text, size, "%g", value->floating)
                                                : snprintf(text, size, "%" PRId64, value->integer);
    return length < 0 ? 0 : (size_t)length;
}

void call_describe_result(const call_step *step, const char *subject, call_type type,
                          const call_storage *result, char *text, size_t size) {
    char got[48], wanted[160];
    int64_t number = call_load_integer(result, type);
    if (is_floating(type))
        snprintf(got, sizeof got, "%g", call_load_floating(result, type));
    else if (type == CALL_POINTER || type == CALL_STRING)
        snprintf(got, sizeof got, "%s", number == 0 ? "NULL" : "an address");
    else if (call_is_unsigned(type))
        snprintf(got, sizeof got, "%" PRIu64, (uint64_t)number);
    else
        snprintf(got, sizeof got, "%" PRId64, number);
    size_t length = 0;
    wanted[0] = 0;
    for (size_t i = 0; i < step->expected_count && length + 32 < sizeof wanted; i++) {
        if (i > 0)
            length += (size_t)snprintf(wanted + length, sizeof wanted - length, ", ");
        length += describe_value(&step->expected[i], wanted + length, sizeof wanted - length);
    }
    const char *rule = step->expect == CALL_EXPECT_NOT        ? "anything but "
                       : step->expect == CALL_EXPECT_AT_LEAST ? "at least "
                                                              : "";
    snprintf(text, size, "%.300s %s, expected %s%s", subject, got, rule, wanted);
}
