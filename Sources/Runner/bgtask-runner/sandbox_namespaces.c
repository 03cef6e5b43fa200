/* Namespaces, capabilities and the user of a bundle. */
#include "sandbox.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#define RECURSIVELY 0x8000 // AT_RECURSIVE, which old headers lack

/* A granted path, and a copy of the mounts at it and below. */
struct writable {
    int place, tree;
};

/* Makes all mounts of the namespace read-only. */
static bool make_all_read_only(void) {
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY};
    return syscall(SYS_mount_setattr, AT_FDCWD, "/", RECURSIVELY, &attributes, sizeof(attributes)) == 0;
}

/* Opens one granted path, and copies the mounts there. The host has followed all links in the path; a link
 * that is there now was made to lead the grant to another place. A path that is gone is no mistake. */
static bool copy_mounts(const char *path, struct writable *writable) {
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    writable->place = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
    if (writable->place < 0)
        return errno == ENOENT;
    writable->tree = (int)syscall(SYS_open_tree, writable->place, "",
                                  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | RECURSIVELY);
    return writable->tree >= 0;
}

static bool mount_copy(const struct writable *writable) {
    return writable->place < 0 || syscall(SYS_move_mount, writable->tree, "", writable->place, "",
                                          MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
}

/* Files of /proc that name keys, addresses of the kernel, or what it does for others. The rule for /proc
 * permits to read them. */
static const char *const masked[] = {
    "/proc/keys", "/proc/key-users", "/proc/kallsyms", "/proc/modules", "/proc/timer_list", "/proc/kcore",
    NULL};

/* Puts an empty file in the place of each. Where the kernel does not permit it, or has no such file, the
 * permissions of the file have to do. */
static void mask_kernel(void) {
    for (size_t i = 0; masked[i] != NULL; i++) {
        int ignored = mount("/dev/null", masked[i], NULL, MS_BIND, NULL);
        (void)ignored;
    }
}

/* Makes all file systems read-only, except for the granted paths. Landlock leaves the attributes of files to
 * this. The mounts of the granted paths are copied before and mounted after that, so each of them, and each
 * below them, is as it was: one that the administrator mounted read-only stays so. */
static bool make_read_only_but(const struct paths *paths, struct writable *writables, char *finding,
                               size_t size) {
    char step[512];
    for (size_t i = 0; i < paths->count; i++)
        if (!copy_mounts(paths->items[i], &writables[i])) {
            snprintf(step, sizeof(step), "a writable mount of %.400s", paths->items[i]);
            return sandbox_refused(step, finding, size);
        }
    if (!make_all_read_only())
        return sandbox_refused("read-only mounts in a mount namespace", finding, size);
    mask_kernel();
    for (size_t i = 0; i < paths->count; i++)
        if (!mount_copy(&writables[i])) {
            snprintf(step, sizeof(step), "a writable mount of %.400s", paths->items[i]);
            return sandbox_refused(step, finding, size);
        }
    return true;
}

static bool make_read_only(const struct sandbox *sandbox, char *finding, size_t size) {
    // Mounts of this namespace do not appear outside of it. What is mounted or unmounted outside is so here,
    // too: a task must not write below the place of a disk that came later, or keep one busy that is gone.
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0)
        return sandbox_refused("mounts of its own in a mount namespace", finding, size);
    size_t count = sandbox->write.count;
    struct writable *writables = malloc((count + 1) * sizeof(*writables));
    if (writables == NULL)
        return sandbox_refused("memory for the granted paths", finding, size);
    for (size_t i = 0; i < count; i++)
        writables[i] = (struct writable){-1, -1};
    bool done = make_read_only_but(&sandbox->write, writables, finding, size);
    int code = errno;
    for (size_t i = 0; i < count; i++) {
        if (writables[i].place >= 0)
            close(writables[i].place);
        if (writables[i].tree >= 0)
            close(writables[i].tree);
    }
    free(writables);
    errno = code;
    return done;
}

static bool set_kernel(const char *path, const char *value) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t written = write(file, value, strlen(value));
    close(file);
    return written == (ssize_t)strlen(value);
}

/* The file that says whether limit_ipc could set the namespace; it comes last there. */
static const char *const last_limit = "/proc/sys/kernel/shm_rmid_forced";

/* Limits what the launches of a bundle can leave in its IPC namespace, because no limit of a launch counts
 * it: 64 message queues (1 MiB in all), 32,000 semaphores (2 MiB), and shared memory of 64 MiB, which the
 * kernel removes when no process uses it any more. Where the namespace can't be set so, the filter refuses
 * System V IPC. */
static bool limit_ipc(void) {
    return set_kernel("/proc/sys/kernel/msgmni", "64") &&
           set_kernel("/proc/sys/kernel/sem", "250 32000 32 128") &&
           set_kernel("/proc/sys/kernel/shmall", "16384") && set_kernel(last_limit, "1");
}

bool sandbox_ipc_is_limited(const struct sandbox *sandbox) {
    char value = '0';
    int file = sandbox->layers & LAYER_NAMESPACES ? open(last_limit, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return false;
    bool is_limited = read(file, &value, 1) == 1 && value == '1';
    close(file);
    return is_limited;
}

/* Enters a user namespace, and an IPC namespace with limits. Only user 0 of the user namespace may set them,
 * so this process is that user until it enters another one, in which it has its own number again. A kernel
 * that does not permit it (before Linux 6.10) leaves the limits as they are. */
static bool enter_ipc_of_user(uid_t user, gid_t group) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWIPC) != 0 || !process_map(0, user, 0, group))
        return false;
    limit_ipc();
    return true;
}

bool sandbox_enter_namespaces(const struct sandbox *sandbox, char *finding, size_t size) {
    if (!(sandbox->layers & (LAYER_NAMESPACES | LAYER_NETWORK_NAMESPACE)))
        return true;
    bool is_root = geteuid() == 0;
    int flags = is_root ? CLONE_NEWIPC : CLONE_NEWUSER;
    if (sandbox->layers & LAYER_NAMESPACES)
        flags |= CLONE_NEWNS | CLONE_NEWUTS;
    else
        flags &= ~CLONE_NEWIPC;
    if ((sandbox->layers & LAYER_NETWORK_NAMESPACE) && sandbox->network == NETWORK_NONE)
        flags |= CLONE_NEWNET;
    uid_t user = geteuid();
    gid_t group = getegid();
    bool is_nested = !is_root && (sandbox->layers & LAYER_NAMESPACES);
    if (is_nested && !enter_ipc_of_user(user, group))
        return sandbox_refused("unshare of the IPC namespace", finding, size);
    if (unshare(flags) != 0)
        return sandbox_refused("unshare of namespaces", finding, size);
    if (!is_root && !process_map(user, is_nested ? 0 : user, group, is_nested ? 0 : group))
        return sandbox_refused("the user namespace", finding, size);
    if (flags & CLONE_NEWIPC)
        limit_ipc();
    return !(flags & CLONE_NEWNS) || make_read_only(sandbox, finding, size);
}

/* MARK: Privileges */

static bool empty_bounding_set(char *finding, size_t size) {
    // Without CAP_SETPCAP, the process is not root's, and a program that it executes gets no capabilities.
    for (int capability = 0; capability < 64; capability++)
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EPERM && errno != EINVAL)
            return sandbox_refused("prctl(PR_CAPBSET_DROP)", finding, size);
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL)
        return sandbox_refused("prctl(PR_CAP_AMBIENT)", finding, size);
    return true;
}

/* Finds the groups that own the granted devices, such as "render", because the user of a bundle is in no
 * group. A device of root's group stays closed. Returns the number of groups. */
static size_t groups_of_devices(const struct sandbox *sandbox, gid_t *groups, size_t room) {
    size_t count = 0;
    for (size_t i = 0; i < sandbox->devices.count && count < room; i++) {
        struct stat status;
        if (stat(sandbox->devices.items[i], &status) != 0 || status.st_gid == 0 ||
            (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode)) || !(status.st_mode & S_IRGRP))
            continue;
        groups[count++] = status.st_gid;
    }
    return count;
}

static bool become_user(const struct sandbox *sandbox, char *finding, size_t size) {
    gid_t groups[64];
    size_t count = groups_of_devices(sandbox, groups, sizeof(groups) / sizeof(groups[0]));
    uid_t user = sandbox->user;
    if (setgroups(count, groups) != 0)
        return sandbox_refused("setgroups", finding, size);
    if (setresgid(user, user, user) != 0)
        return sandbox_refused("setresgid to the group of the bundle", finding, size);
    if (setresuid(user, user, user) != 0)
        return sandbox_refused("setresuid to the user of the bundle", finding, size);
    return true;
}

bool sandbox_drop_privileges(const struct sandbox *sandbox, char *finding, size_t size) {
    bool drops = (sandbox->layers & LAYER_CAPABILITIES) != 0;
    // Only root may empty the bounding set, so this comes before the change of the user.
    if (drops && !empty_bounding_set(finding, size))
        return false;
    if (sandbox_has_user(sandbox) && !become_user(sandbox, finding, size))
        return false;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};
    if (drops && syscall(SYS_capset, &header, sets) != 0)
        return sandbox_refused("capset", finding, size);
    return true;
}
