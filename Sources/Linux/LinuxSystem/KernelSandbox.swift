import CLinuxShims
public import TaskModel

/// Which layers of the sandbox the running kernel says that it has.
///
/// A host tries each layer instead, because a container can refuse what the kernel has. `bgtask lint` uses
/// this type, because it works without a host and without privileges.
public enum KernelSandbox {
    /// The layers that the kernel does not refuse from the outset.
    public static var layers: Set<SandboxLayer> {
        var layers: Set<SandboxLayer> = [.namespaces, .networkNamespace, .capabilities]
        if SmallFile.exists("/proc/sys/kernel/seccomp/actions_avail") { layers.insert(.seccomp) }
        // The versions of Landlock that brought files, TCP ports and scopes: Linux 5.13, 6.7 and 6.12.
        let version = lx_landlock_version()
        if version >= 1 { layers.insert(.landlock) }
        if version >= 4 { layers.insert(.landlockPorts) }
        if version >= 6 { layers.insert(.landlockScopes) }
        return layers
    }
}
