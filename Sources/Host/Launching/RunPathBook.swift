import LinuxSystem
import TaskModel

/// The files that a task's process must read to load its library, in addition to the system's libraries.
struct RunPathBook {
    private var known: [String: [String]] = [:]

    /// The directories of the library's copy and of the program, and the libraries on the library's run path.
    ///
    /// A run path names the directories of a compiler's runtime, for example. A plugin could name any
    /// directory there, so tasks may read only the shared libraries in it, and no other file.
    mutating func paths(for order: LaunchOrder) -> [String] {
        let libraries = order.libraryPath.map { [$0] } ?? order.callLibraries
        return (libraries + [order.place.executable].compactMap(\.self)).compactMap(Self.directory)
            + libraries.flatMap { runPath(of: $0) }
    }

    private mutating func runPath(of library: String) -> [String] {
        if let files = known[library] { return files }
        let files = RunPath.libraries(of: library)
        // Each version of a library is copied to a path of its own, and few of them are in use.
        if known.count >= 256 { known.removeAll() }
        known[library] = files
        return files
    }

    private static func directory(of path: String) -> String? {
        path.lastIndex(of: "/").map { String(path[..<$0]) }
    }
}

/// The device files of graphics processors, for `gpu: true`.
enum GraphicsNodes {
    /// The directories in which the kernel describes the devices.
    static let descriptions = ["/sys/dev/char", "/sys/devices"]

    /// The device files on this machine for computing: the render nodes, which can't use a screen, and those
    /// of vendors, of which NVIDIA's include one for screens.
    static func present() -> [String] {
        let render = ((try? DirectoryTree.names(in: "/dev/dri")) ?? []).filter { $0.hasPrefix("renderD") }
        let others = ((try? DirectoryTree.names(in: "/dev")) ?? []).filter {
            $0 == "kfd" || $0.hasPrefix("nvidia")
        }
        return render.map { "/dev/dri/" + $0 } + others.map { "/dev/" + $0 }
    }
}
