/* The calls that send signals, for the filter that reports them and for the launcher that answers. */
#include "sandbox.h"

#include <stddef.h>
#include <sys/syscall.h>

const struct signal_call sandbox_signal_calls[SIGNAL_CALLS] = {
    {SYS_kill, 0, 1},
    {SYS_tkill, -1, 1},
    {SYS_tgkill, 0, 2},
    {SYS_rt_sigqueueinfo, 0, 1},
    {SYS_rt_tgsigqueueinfo, 0, 2},
    {SYS_pidfd_send_signal, -1, 1},
};

const unsigned sandbox_reported_signals[REPORTED_SIGNALS] = {9, 15, 19};

const struct signal_call *sandbox_signal_call(int number) {
    for (size_t i = 0; i < SIGNAL_CALLS; i++)
        if (sandbox_signal_calls[i].number == number)
            return &sandbox_signal_calls[i];
    return NULL;
}
