/* Namespaces and capabilities. */
#include "sandbox.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#define RECURSIVELY 0x8000 // AT_RECURSIVE, which old headers lack

/* Sets and clears the read-only flag of a mount, and of all mounts below it if `flags` says so. */
static bool set_read_only(const char *path, bool read_only, unsigned flags) {
    struct mount_attr attributes = {0};
    if (read_only)
        attributes.attr_set = MOUNT_ATTR_RDONLY;
    else
        attributes.attr_clr = MOUNT_ATTR_RDONLY;
    return syscall(SYS_mount_setattr, AT_FDCWD, path, flags, &attributes, sizeof(attributes)) == 0;
}

/* Makes one path writable again: a mount of its own on the same place. */
static bool open_for_writing(const char *path, char *finding, size_t size) {
    if (mount(path, path, NULL, MS_BIND, NULL) == 0 && set_read_only(path, false, 0))
        return true;
    if (errno == ENOENT)
        return true;
    char step[512];
    snprintf(step, sizeof(step), "a writable mount of %.400s", path);
    return sandbox_refused(step, finding, size);
}

/* Makes all file systems read-only, except for the granted paths. Landlock leaves the attributes of files to
 * this. */
static bool make_read_only(const struct sandbox *sandbox, char *finding, size_t size) {
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 || !set_read_only("/", true, RECURSIVELY))
        return sandbox_refused("read-only mounts in a mount namespace", finding, size);
    for (size_t i = 0; i < sandbox->write.count; i++)
        if (!open_for_writing(sandbox->write.items[i], finding, size))
            return false;
    return true;
}

bool sandbox_enter_namespaces(const struct sandbox *sandbox, char *finding, size_t size) {
    if (!(sandbox->layers & (LAYER_NAMESPACES | LAYER_NETWORK_NAMESPACE)))
        return true;
    int flags = geteuid() == 0 ? 0 : CLONE_NEWUSER;
    if (sandbox->layers & LAYER_NAMESPACES)
        flags |= CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
    if ((sandbox->layers & LAYER_NETWORK_NAMESPACE) && sandbox->network == NETWORK_NONE)
        flags |= CLONE_NEWNET;
    uid_t user = geteuid();
    gid_t group = getegid();
    if (unshare(flags) != 0)
        return sandbox_refused("unshare of namespaces", finding, size);
    if ((flags & CLONE_NEWUSER) && !process_map_user(user, group))
        return sandbox_refused("the user namespace", finding, size);
    return !(flags & CLONE_NEWNS) || make_read_only(sandbox, finding, size);
}

bool sandbox_drop_capabilities(const struct sandbox *sandbox, char *finding, size_t size) {
    if (!(sandbox->layers & LAYER_CAPABILITIES))
        return true;
    // Without CAP_SETPCAP, the process is not root's, and a program that it executes gets no capabilities.
    for (int capability = 0; capability < 64; capability++)
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EPERM && errno != EINVAL)
            return sandbox_refused("prctl(PR_CAPBSET_DROP)", finding, size);
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL)
        return sandbox_refused("prctl(PR_CAP_AMBIENT)", finding, size);
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};
    if (syscall(SYS_capset, &header, sets) != 0)
        return sandbox_refused("capset", finding, size);
    return true;
}
