import Glibc

/// A directory of the cgroup v2 file system that we may write.
///
/// `cgroup.kill` and `cpu.stat` work without any controller, so hybrid machines serve as well as pure ones.
public struct ControlGroup: Sendable, Equatable {
    /// Its absolute path.
    public let path: String

    /// Wraps a directory that exists.
    public init(path: String) {
        self.path = path
    }

    /// Where this process may make groups: its own group in the v2 hierarchy.
    ///
    /// - Returns: The group's directory; or why there is none.
    public static func own() -> Result<ControlGroup, ControlGroupFinding> {
        let roots = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"]
        guard let root = roots.first(where: { SmallFile.exists($0 + "/cgroup.procs") }) else {
            return .failure(ControlGroupFinding("no cgroup v2 file system is mounted under /sys/fs/cgroup"))
        }
        guard let membership = try? SmallFile.read("/proc/self/cgroup"),
            let line = membership.split(separator: "\n").first(where: { $0.hasPrefix("0::") })
        else {
            return .failure(ControlGroupFinding("/proc/self/cgroup does not name a cgroup v2 group"))
        }
        let relative = String(line.dropFirst(3))
        if relative.contains("/..") {
            return .failure(
                ControlGroupFinding("the host's group \(relative) is outside its cgroup namespace"))
        }
        return .success(ControlGroup(path: relative == "/" ? root : root + relative))
    }

    /// Makes or takes over a group inside this one.
    ///
    /// - Throws: `mkdir`, where we may not.
    public func child(_ name: String) throws(SystemCallError) -> ControlGroup {
        let child = ControlGroup(path: path + "/" + name)
        do {
            try retryingOnInterrupt("mkdir", child.path) { mkdir(child.path, 0o755) }
        } catch  where error.code == EEXIST {
            return child
        }
        return child
    }

    /// The groups inside this one.
    public func children() -> [ControlGroup] {
        SmallFile.directories(in: path).map { ControlGroup(path: path + "/" + $0) }
    }

    /// Kills everything in it and below.
    ///
    /// - Throws: The write to `cgroup.kill`; kernels before 5.14 do not have it.
    public func kill() throws(SystemCallError) {
        try SmallFile.write("1", to: path + "/cgroup.kill")
    }

    /// Removes it; it must be empty and without groups inside.
    ///
    /// - Throws: `rmdir`.
    public func remove() throws(SystemCallError) {
        try retryingOnInterrupt("rmdir", path) { rmdir(path) }
    }

    /// Whether a process is in it or below; a group that is gone has none.
    public var isPopulated: Bool {
        guard let events = try? SmallFile.read(path + "/cgroup.events") else { return false }
        return events.contains("populated 1")
    }

    /// Waits until it is empty; blocks its thread.
    ///
    /// - Returns: Whether it is.
    public func waitUntilEmpty(timeoutMilliseconds: Int32) -> Bool {
        let descriptor = open(path + "/cgroup.events", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return true }
        let owned = OwnedDescriptor(taking: descriptor)
        var left = timeoutMilliseconds
        while isPopulated {
            if left <= 0 { return false }
            // The kernel reports changes; the short rounds limit the cost of a missed report.
            var polled = pollfd(fd: owned.rawValue, events: Int16(POLLPRI), revents: 0)
            let round = min(left, 20)
            _ = poll(&polled, 1, round)
            left -= round
        }
        return true
    }

    /// Its share of the CPU among its siblings, 1 through 10,000; `nil` where the cpu controller is not
    /// delegated.
    public var cpuWeight: Int? {
        (try? SmallFile.read(path + "/cpu.weight"))?.split(separator: "\n").first.flatMap { Int($0) }
    }

    /// Sets ``cpuWeight``.
    ///
    /// - Throws: The write.
    public func setCPUWeight(_ weight: Int) throws(SystemCallError) {
        try SmallFile.write("\(min(max(weight, 1), 10_000))", to: path + "/cpu.weight")
    }

    /// The processes in it, not below; numbers for reading /proc only.
    public var processes: [Int32] {
        guard let text = try? SmallFile.read(path + "/cgroup.procs") else { return [] }
        return text.split(separator: "\n").compactMap { Int32($0) }
    }
}

/// Why there is no group to use.
public struct ControlGroupFinding: Error, Equatable, Sendable {
    /// The sentence.
    public let text: String
    public init(_ text: String) { self.text = text }
}

/// The CPU time of a group, dead members included, read through a descriptor that is kept open.
public final class ControlGroupClock: Sendable {
    private let descriptor: CInt

    /// Opens `cpu.stat` of a group.
    ///
    /// - Throws: The `open`.
    public init(of group: ControlGroup) throws(SystemCallError) {
        let path = group.path + "/cpu.stat"
        descriptor = try retryingOnInterrupt("open", path) { open(path, O_RDONLY | O_CLOEXEC) }
    }

    deinit {
        _ = close(descriptor)
    }

    /// CPU time that was ever used in the group; `nil` if the group is gone.
    public func usage() -> Duration? {
        var buffer = [UInt8](repeating: 0, count: 512)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return nil }
        let text = String(decoding: buffer.prefix(count), as: UTF8.self)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("usage_usec ") }) else {
            return nil
        }
        return Int64(line.dropFirst(11)).map { .microseconds($0) }
    }
}
