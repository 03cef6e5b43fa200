/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the bytes that the sockets of a cgroup receive and send, with two programs in the kernel (BPF). */
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Places of the two numbers in the map. */
enum { RECEIVED, SENT, PLACES };
/* Our choice: a check takes some microseconds, so hardly any is interrupted twice. */
enum { LOAD_TRIES = 10 };

static int call_bpf(int command, union bpf_attr *attributes) {
    return (int)syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

static uint64_t address(const void *pointer) {
    return (uint64_t)(uintptr_t)pointer;
}

static int make_map(void) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.map_type = BPF_MAP_TYPE_ARRAY;
    attributes.key_size = sizeof(uint32_t);
    attributes.value_size = sizeof(uint64_t);
    attributes.max_entries = PLACES;
    return call_bpf(BPF_MAP_CREATE, &attributes); // close-on-exec, as all descriptors of bpf(2)
}

/* Loads a program that adds the length of each packet to one place of the map, and lets the packet pass. */
static int load_program(int map, int place, enum bpf_attach_type type) {
    const struct bpf_insn program[] = {
        // r6 = the packet
        {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_1},
        // r0 = bpf_map_lookup_elem(map, &place)
        {.code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .off = -4, .imm = place},
        {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_10},
        {.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -4},
        {.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map},
        {.code = 0}, // the upper half of the number before
        {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem},
        // if (r0 != NULL) atomically *r0 += packet->len
        {.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 2, .imm = 0},
        {.code = BPF_LDX | BPF_MEM | BPF_W,
         .dst_reg = BPF_REG_1,
         .src_reg = BPF_REG_6,
         .off = offsetof(struct __sk_buff, len)},
        {.code = BPF_STX | BPF_XADD | BPF_DW, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_1},
        // return 1: the packet passes
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1},
        {.code = BPF_JMP | BPF_EXIT},
    };
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.prog_type = BPF_PROG_TYPE_CGROUP_SKB;
    attributes.expected_attach_type = type;
    attributes.insns = address(program);
    attributes.insn_cnt = sizeof(program) / sizeof(program[0]);
    attributes.license = address("Apache-2.0"); // it calls no function that asks for the GPL
    // The kernel's check of the program ends with EAGAIN if a signal comes; bpf(2) leaves the retry to us.
    int loaded = -1;
    for (int tries = 0; tries < LOAD_TRIES; tries++)
        if ((loaded = call_bpf(BPF_PROG_LOAD, &attributes)) >= 0 || errno != EAGAIN)
            break;
    return loaded;
}

/* The group keeps the program from then on, until it is removed. Programs of others stay in force. */
static int attach(int group, int map, int place, enum bpf_attach_type type) {
    int program = load_program(map, place, type);
    if (program < 0)
        return -1;
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.target_fd = (uint32_t)group;
    attributes.attach_bpf_fd = (uint32_t)program;
    attributes.attach_type = type;
    attributes.attach_flags = BPF_F_ALLOW_MULTI;
    int result = call_bpf(BPF_PROG_ATTACH, &attributes), code = errno;
    close(program);
    errno = code;
    return result;
}

int lx_count_network(const char *path) {
    int group = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (group < 0)
        return -1;
    int map = make_map();
    if (map >= 0 && (attach(group, map, RECEIVED, BPF_CGROUP_INET_INGRESS) != 0 ||
                     attach(group, map, SENT, BPF_CGROUP_INET_EGRESS) != 0)) {
        int code = errno;
        close(map);
        errno = code;
        map = -1;
    }
    int code = errno;
    close(group);
    errno = code;
    return map;
}

int lx_network_bytes(int map, uint64_t *received, uint64_t *sent) {
    uint64_t *values[PLACES] = {[RECEIVED] = received, [SENT] = sent};
    for (uint32_t place = 0; place < PLACES; place++) {
        union bpf_attr attributes;
        memset(&attributes, 0, sizeof(attributes));
        attributes.map_fd = (uint32_t)map;
        attributes.key = address(&place);
        attributes.value = address(values[place]);
        if (call_bpf(BPF_MAP_LOOKUP_ELEM, &attributes) != 0)
            return -1;
    }
    return 0;
}
