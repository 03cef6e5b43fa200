/* SPDX-License-Identifier: Apache-2.0
 *
 * The program that peers run: bench-task FILE NUMBER appends one stamp and ends, as the handlers do.
 */
#include "stamps.h"

int main(int count, char **arguments) {
    int64_t time = now();
    if (count != 3)
        return 2;
    return append_stamp(arguments[1], (struct stamp){atoll(arguments[2]), STAMP_RUN, time}) != 0;
}
