/* SPDX-License-Identifier: Apache-2.0 */
/* An epoll instance that tells once for each order when a pipe can be read. */
#include "CLinuxShims.h"

#include <sys/epoll.h>

int lx_poller_create(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}

int lx_poller_add(int poller, int pipe, uint64_t number) {
    // The end of a pipe is always told; with EPOLLONESHOT only once.
    struct epoll_event event = {.events = EPOLLONESHOT, .data.u64 = number};
    return epoll_ctl(poller, EPOLL_CTL_ADD, pipe, &event);
}

int lx_poller_arm(int poller, int pipe, uint64_t number) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u64 = number};
    return epoll_ctl(poller, EPOLL_CTL_MOD, pipe, &event);
}

int lx_poller_remove(int poller, int pipe) {
    return epoll_ctl(poller, EPOLL_CTL_DEL, pipe, 0);
}

int lx_poller_wait(int poller, uint64_t *numbers, int most) {
    struct epoll_event events[64];
    int count = epoll_wait(poller, events, most < 64 ? most : 64, -1);
    for (int i = 0; i < count; i++)
        numbers[i] = events[i].data.u64;
    return count;
}
