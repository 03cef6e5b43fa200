/* Landlock: the files, the ports of TCP, and the signals that a process may use. */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's interface (linux/landlock.h), which old headers have only in part. */
struct ruleset {
    uint64_t files, ports, scopes;
};
struct path_rule {
    uint64_t access;
    int32_t directory;
} __attribute__((packed));
struct port_rule {
    uint64_t access, port;
};
enum { RULE_PATH = 1, RULE_PORT = 2, VERSION = 1 };
#define FILE_EXECUTE (1ull << 0)
#define FILE_WRITE (1ull << 1)
#define FILE_READ (1ull << 2)
#define FILE_LIST (1ull << 3)
#define FILE_CHANGES (FILE_WRITE | FILE_TRUNCATE | ((1ull << 14) - (1ull << 4))) // also remove, make, move
#define FILE_MAKE_NODES (1ull << 6 | 1ull << 9 | 1ull << 11) // character device, socket, block device
#define FILE_TRUNCATE (1ull << 14)
#define FILE_IOCTL (1ull << 15)
#define FILE_ALL ((1ull << 16) - 1)
#define FILE_OF_FILE (FILE_EXECUTE | FILE_WRITE | FILE_READ | FILE_TRUNCATE | FILE_IOCTL)
#define PORT_BIND (1ull << 0)
#define PORT_CONNECT (1ull << 1)
#define SCOPE_ABSTRACT (1ull << 0)
#define SCOPE_SIGNAL (1ull << 1)

/* What each version of the interface knows: a request for more fails with E2BIG or EINVAL, and would leave
 * the process without any restriction. */
static uint64_t known_files(long version) {
    if (version >= 5)
        return FILE_ALL;
    if (version >= 3)
        return FILE_ALL & ~FILE_IOCTL;
    return version >= 2 ? (1ull << 14) - 1 : (1ull << 13) - 1;
}

/* MARK: What every task may use */

/* Directories that everybody may read on every distribution. */
static const char *const libraries[] = {"/lib",       "/lib32",         "/lib64",           "/libx32",
                                        "/usr/lib",   "/usr/lib32",     "/usr/lib64",       "/usr/libx32",
                                        "/usr/share", "/usr/local/lib", "/usr/local/share", NULL};
/* What the C library and the language runtimes read. libdispatch ends a process that can't read its threads
 * in /proc, and the secrets of other processes there are closed by ptrace's rules. A process that could also
 * write to
 * /dev/zero could map shared memory with it, which no limit counts. */
static const char *const usual[] = {"/proc",
                                    "/sys/devices/system/cpu",
                                    "/sys/kernel/mm/transparent_hugepage",
                                    "/etc/ld.so.cache",
                                    "/etc/ld.so.preload",
                                    "/etc/localtime",
                                    "/etc/timezone",
                                    "/etc/nsswitch.conf",
                                    "/etc/locale.alias",
                                    "/etc/os-release",
                                    "/dev/zero",
                                    NULL};
static const char *const for_network[] = {"/etc/resolv.conf",     "/run/systemd/resolve",
                                          "/etc/hosts",           "/etc/host.conf",
                                          "/etc/gai.conf",        "/etc/services",
                                          "/etc/protocols",       "/etc/ssl/certs",
                                          "/etc/ssl/openssl.cnf", "/etc/ca-certificates",
                                          "/etc/pki/tls",         "/etc/pki/ca-trust",
                                          "/etc/crypto-policies", NULL};
static const char *const programs[] = {"/bin",           "/sbin",           "/usr/bin",     "/usr/sbin",
                                       "/usr/local/bin", "/usr/local/sbin", "/usr/libexec", NULL};
static const char *const devices[] = {"/dev/null", "/dev/full", "/dev/random", "/dev/urandom", NULL};

/* MARK: Rules */

struct adding {
    int ruleset;
    uint64_t known;
    char *finding;
    size_t size;
    uint32_t user; /* Of the bundle; 0 if it has none. */
};

/* Permits an access below an open path. */
static bool permit(const struct adding *adding, int file, uint64_t access) {
    struct stat status;
    if (fstat(file, &status) != 0)
        return false;
    if (!S_ISDIR(status.st_mode))
        access &= FILE_OF_FILE;
    struct path_rule rule = {.access = access & adding->known, .directory = file};
    return syscall(SYS_landlock_add_rule, adding->ruleset, RULE_PATH, &rule, 0) == 0;
}

/* Permits an access to paths of the system; those that this machine lacks are skipped. */
static bool permit_usual(const struct adding *adding, const char *const *paths, uint64_t access) {
    for (; *paths != NULL; paths++) {
        int file = open(*paths, O_PATH | O_CLOEXEC);
        if (file < 0)
            continue;
        bool done = permit(adding, file, access);
        int code = errno;
        close(file);
        errno = code;
        if (!done)
            return sandbox_refused("landlock_add_rule for a path of the system", adding->finding,
                                   adding->size);
    }
    return true;
}

/* Adds to the finding which user can't search the path of a grant. */
static void add_user(const struct adding *adding) {
    size_t length = strlen(adding->finding);
    snprintf(adding->finding + length, adding->size - length,
             ". The tasks of this bundle run as user %u, who must be able to search its directories",
             (unsigned)adding->user);
}

/* Permits an access to one granted path. The host has followed all links in it; a link that is there now
 * was made to lead the grant to another place. */
static bool permit_granted(const struct adding *adding, const char *path, uint64_t access) {
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    int file = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
    if (file < 0 && errno == ENOENT)
        return true;
    char step[PATH_MAX];
    if (file < 0) {
        bool is_closed = errno == EACCES && adding->user != 0;
        snprintf(step, sizeof(step), "openat2 of the granted path %.3000s", path);
        sandbox_refused(step, adding->finding, adding->size);
        if (is_closed)
            add_user(adding);
        return false;
    }
    bool done = permit(adding, file, access);
    int code = errno;
    close(file);
    errno = code;
    if (done)
        return true;
    snprintf(step, sizeof(step), "landlock_add_rule for %.3000s", path);
    return sandbox_refused(step, adding->finding, adding->size);
}

static bool permit_list(const struct adding *adding, const struct paths *paths, uint64_t access) {
    for (size_t i = 0; i < paths->count; i++)
        if (!permit_granted(adding, paths->items[i], access))
            return false;
    return true;
}

static bool permit_files(const struct adding *adding, const struct sandbox *sandbox) {
    uint64_t reading = FILE_READ | FILE_LIST, run = sandbox->subprocesses ? FILE_EXECUTE : 0;
    uint64_t writing = (FILE_ALL & ~(FILE_MAKE_NODES | FILE_IOCTL | FILE_EXECUTE)) | run;
    return permit_usual(adding, libraries, reading | run) && permit_usual(adding, usual, reading) &&
           (sandbox->network == NETWORK_NONE || permit_usual(adding, for_network, reading)) &&
           (!sandbox->subprocesses || permit_usual(adding, programs, reading | run)) &&
           permit_usual(adding, devices, FILE_READ | FILE_WRITE | FILE_TRUNCATE) &&
           permit_list(adding, &sandbox->read, reading | run) &&
           permit_list(adding, &sandbox->write, writing) &&
           permit_list(adding, &sandbox->devices, FILE_READ | FILE_WRITE | FILE_TRUNCATE | FILE_IOCTL);
}

static bool permit_ports(const struct adding *adding, const struct sandbox *sandbox) {
    for (size_t i = 0; i < sandbox->port_count; i++) {
        struct port_rule rule = {.access = PORT_CONNECT, .port = sandbox->ports[i]};
        if (syscall(SYS_landlock_add_rule, adding->ruleset, RULE_PORT, &rule, 0) != 0)
            return sandbox_refused("landlock_add_rule for a port", adding->finding, adding->size);
    }
    return true;
}

bool sandbox_restrict_files(const struct sandbox *sandbox, char *finding, size_t size) {
    unsigned layers = sandbox->layers & (LAYER_LANDLOCK | LAYER_LANDLOCK_PORTS | LAYER_LANDLOCK_SCOPES);
    if (layers == 0)
        return true;
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION);
    if (version < 0)
        return sandbox_refused("Landlock", finding, size);
    struct ruleset rules = {0};
    if (layers & LAYER_LANDLOCK)
        rules.files = known_files(version);
    if (layers & LAYER_LANDLOCK_PORTS)
        rules.ports = PORT_BIND | PORT_CONNECT;
    if (layers & LAYER_LANDLOCK_SCOPES)
        rules.scopes = SCOPE_ABSTRACT | SCOPE_SIGNAL;
    if ((rules.ports != 0 && version < 4) || (rules.scopes != 0 && version < 6)) {
        errno = EOPNOTSUPP;
        snprintf(finding, size,
                 "the sandbox can't be applied: Landlock of this kernel has version %ld; ports need version "
                 "4, and scopes version 6",
                 version);
        return false;
    }
    // An old kernel does not know the last fields.
    size_t length = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, length, 0);
    if (ruleset < 0)
        return sandbox_refused("landlock_create_ruleset", finding, size);
    struct adding adding = {ruleset, rules.files, finding, size,
                            sandbox_has_user(sandbox) ? sandbox->user : 0};
    bool done = (!(layers & LAYER_LANDLOCK) || permit_files(&adding, sandbox)) &&
                (!(layers & LAYER_LANDLOCK_PORTS) || permit_ports(&adding, sandbox));
    if (done && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
        done = sandbox_refused("landlock_restrict_self", finding, size);
    close(ruleset);
    return done;
}

/* MARK: One launch: its signals and its temporary directory */

/* Landlock's layers of this process, and its writable paths; a template remembers them for its tasks. */
static struct sandbox remembered;

void sandbox_remember(const struct sandbox *sandbox) {
    remembered = *sandbox;
}

/* Whether this process is in a scope of its own launch. */
static bool is_in_scope;

void sandbox_kill_scope(void) {
    // Without the scope, this would reach all processes of the user. The kernel sends the signals while no
    // process can be made, and a process that has one pending makes none. The filter reports SIGKILL, and
    // this would wait for the answer of a launcher that was stopped. The kernel ignores the upper half of the
    // number, which the filter compares, too.
    if (is_in_scope)
        syscall(SYS_kill, -1, SIGKILL | 1L << 32);
}

bool sandbox_enter_scope(void) {
    if (!(remembered.layers & LAYER_LANDLOCK_SCOPES))
        return true;
    struct ruleset rules = {.scopes = SCOPE_SIGNAL};
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
    bool done = ruleset >= 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    int code = errno;
    if (ruleset >= 0)
        close(ruleset);
    errno = code;
    is_in_scope = done;
    return done;
}

/* Whether a directory directly contains a path. */
static bool contains(const char *directory, const char *path) {
    const char *name = strrchr(path, '/');
    size_t length = strlen(directory);
    return name != NULL && (size_t)(name - path) == length && strncmp(path, directory, length) == 0;
}

/* Permits changes below a path that the template's own rules permit already, so a link in it gives no
 * access. */
static bool permit_changes(const struct adding *adding, const char *path) {
    return permit_usual(adding, (const char *const[]){path, NULL}, FILE_CHANGES);
}

static bool permit_launch(const struct adding *adding, const char *temporary, const char *all_temporaries) {
    bool done =
        permit_changes(adding, temporary) && permit_usual(adding, devices, FILE_WRITE | FILE_TRUNCATE);
    for (size_t i = 0; done && i < remembered.write.count; i++)
        if (remembered.write.items[i] != all_temporaries)
            done = permit_changes(adding, remembered.write.items[i]);
    for (size_t i = 0; done && i < remembered.devices.count; i++)
        done = permit_changes(adding, remembered.devices.items[i]);
    return done;
}

bool sandbox_prepare_launch(const char *temporary, int *ruleset, char *finding, size_t size) {
    *ruleset = -1;
    const char *all_temporaries = NULL;
    for (size_t i = 0; i < remembered.write.count; i++)
        if (contains(remembered.write.items[i], temporary))
            all_temporaries = remembered.write.items[i];
    if (!(remembered.layers & LAYER_LANDLOCK) || all_temporaries == NULL)
        return true;
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION);
    struct ruleset rules = {.files = version < 0 ? 0 : known_files(version) & FILE_CHANGES};
    *ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules.files), 0);
    if (*ruleset < 0)
        return sandbox_refused("landlock_create_ruleset", finding, size);
    struct adding adding = {*ruleset, rules.files, finding, size, 0};
    return permit_launch(&adding, temporary, all_temporaries);
}

bool sandbox_enter_launch(int ruleset) {
    return ruleset < 0 || syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}
