/* SPDX-License-Identifier: Apache-2.0 */
/* The text of the last failure in a call program. */
#include "call_machine.h"

_Thread_local char call_failure[1000];
