import Glibc
import TaskModel

/// A directory of the cgroup v2 file system in which this process may write.
///
/// `cgroup.kill` and `cpu.stat` need no controllers, so machines with both cgroup versions (hybrid) work,
/// too.
public struct ControlGroup: Sendable, Hashable {
    /// The absolute path of the directory.
    public let path: String

    /// Wraps an existing directory.
    public init(path: String) {
        self.path = path
    }

    /// The group of this process in the v2 hierarchy, in which it creates its groups.
    ///
    /// - Returns: The group, or the reason why there is none.
    public static func own() -> Result<ControlGroup, ControlGroupFinding> {
        let roots = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"]
        guard let root = roots.first(where: { SmallFile.exists($0 + "/cgroup.procs") }) else {
            return .failure(
                ControlGroupFinding(
                    "no cgroup v2 file system is mounted under /sys/fs/cgroup",
                    remedy: ControlGroupFinding.howToMount))
        }
        guard let membership = try? SmallFile.read("/proc/self/cgroup"),
            let line = membership.split(separator: "\n").first(where: { $0.hasPrefix("0::") })
        else {
            return .failure(
                ControlGroupFinding(
                    "/proc/self/cgroup does not name a cgroup v2 group",
                    remedy: ControlGroupFinding.howToMount))
        }
        let relative = String(line.dropFirst(3))
        if relative.contains("/..") {
            return .failure(
                ControlGroupFinding("the host's group \(relative) is outside its cgroup namespace"))
        }
        return .success(ControlGroup(path: relative == "/" ? root : root + relative))
    }

    /// Creates a group inside this one, or returns the existing one.
    ///
    /// - Throws: The `mkdir` that failed, for example because it is not permitted.
    public func child(_ name: String) throws(SystemCallError) -> ControlGroup {
        let child = ControlGroup(path: path + "/" + name)
        do {
            try retryingOnInterrupt("mkdir", child.path) { mkdir(child.path, 0o755) }
        } catch  where error.code == EEXIST {
            return child
        }
        return child
    }

    /// Creates this group, whose directory must be missing.
    ///
    /// - Returns: Whether it was created; false if it exists by now.
    /// - Throws: The `mkdir` that failed.
    public func create() throws(SystemCallError) -> Bool {
        do {
            try retryingOnInterrupt("mkdir", path) { mkdir(path, 0o755) }
        } catch  where error.code == EEXIST {
            return false
        }
        return true
    }

    /// The group that contains this one.
    public var parent: ControlGroup {
        ControlGroup(path: String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    }

    /// The groups inside this one.
    public func children() -> [ControlGroup] {
        SmallFile.directories(in: path).map { ControlGroup(path: path + "/" + $0) }
    }

    /// Whether a process is in this group or below it; also true if it can't be found out, because the
    /// process has ended.
    public func mayContain(_ process: Int32) -> Bool { contains(process) ?? true }

    /// Whether a process is in this group or below it; `nil` if it can't be found out.
    func contains(_ process: Int32) -> Bool? {
        guard let groups = try? SmallFile.read("/proc/\(process)/cgroup"),
            let line = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })
        else { return nil }
        let membership = line.dropFirst(3)
        // The path begins with the place where the file system is mounted.
        if membership.count > 1, path.hasSuffix(membership) { return true }
        guard let name = path.split(separator: "/").last else { return nil }
        return membership.contains("/\(name)/")
    }

    /// Removes the group, which must be empty and have no groups inside.
    ///
    /// - Throws: The `rmdir` that failed.
    public func remove() throws(SystemCallError) {
        try retryingOnInterrupt("rmdir", path) { rmdir(path) }
    }

    /// Whether there is a process in this group or below it; false if the group does not exist any more.
    public var isPopulated: Bool {
        guard let events = try? SmallFile.read(path + "/cgroup.events") else { return false }
        return events.contains("populated 1")
    }

    /// Waits until the group is empty; blocks the thread.
    ///
    /// - Returns: Whether the group is empty.
    public func waitUntilEmpty(timeoutMilliseconds: Int32) -> Bool {
        let descriptor = open(path + "/cgroup.events", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return true }
        let owned = OwnedDescriptor(taking: descriptor)
        let clocks = SystemClocks()
        let end = clocks.now().monotonic + .milliseconds(Int64(timeoutMilliseconds))
        var buffer = [UInt8](repeating: 0, count: 256)
        // Reading through this descriptor makes poll wait for the next change; without it, poll returns at
        // once.
        while pread(owned.rawValue, &buffer, buffer.count, 0) >= 0, isPopulated {
            let left = end - clocks.now().monotonic
            if left <= .zero { return false }
            // The kernel reports changes. Short waits limit the delay if a report is missed.
            var polled = pollfd(fd: owned.rawValue, events: Int16(POLLPRI), revents: 0)
            _ = poll(&polled, 1, Int32(min(left, .milliseconds(20)).wholeMilliseconds) + 1)
        }
        return true
    }

    /// The group's share of the CPU among its siblings, 1 through 10,000; `nil` without the cpu controller.
    public var cpuWeight: Int? {
        (try? SmallFile.read(path + "/cpu.weight"))?.split(separator: "\n").first.flatMap { Int($0) }
    }

    /// Sets ``cpuWeight``; values outside its range are limited to it.
    ///
    /// - Throws: The write that failed.
    public func setCPUWeight(_ weight: Int) throws(SystemCallError) {
        try SmallFile.write("\(min(max(weight, 1), 10_000))", to: path + "/cpu.weight")
    }

    /// The number of threads in this group, without the groups below it.
    ///
    /// - Parameter limit: The count ends when it is above this number.
    /// - Returns: The number, or `limit` + 1.
    public func threadCount(upTo limit: Int = .max) -> Int {
        numbers(in: "cgroup.threads", most: limit == .max ? limit : limit + 1).count
    }

    /// The numbers of the processes in this group, without the groups below it; use them only to read /proc.
    public var processes: [Int32] { processes(most: .max) }

    /// As ``processes``, but only the first ones, of which none is younger than the ones that are left out.
    ///
    /// - Parameter most: How many are returned at most.
    /// - Returns: The numbers.
    public func processes(most: Int) -> [Int32] { numbers(in: "cgroup.procs", most: most) }

    /// Reads only as many lines as are needed: the kernel makes them while it is asked.
    private func numbers(in file: String, most: Int) -> [Int32] {
        let descriptor = open("\(path)/\(file)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        let list = OwnedDescriptor(taking: descriptor)
        var buffer = [UInt8](repeating: 0, count: 4096)
        var numbers: [Int32] = []
        var number: Int32 = 0
        while numbers.count < most {
            let count = read(list.rawValue, &buffer, buffer.count)
            guard count > 0 else { break }
            for byte in buffer[..<count] where numbers.count < most {
                if byte == UInt8(ascii: "\n") {
                    numbers.append(number)
                    number = 0
                } else if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
                    number = number &* 10 &+ Int32(byte - UInt8(ascii: "0"))
                }
            }
        }
        return numbers
    }
}

/// A lock on a group's directory, by which other hosts see that its host lives; ends with the process.
public final class ControlGroupLock: Sendable {
    private let descriptor: CInt

    /// Takes the lock; `nil` if another process holds it, or the group does not exist.
    public init?(of group: ControlGroup) {
        descriptor = open(group.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        // On failure, the deinitializer closes the descriptor, because all properties are set.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
    }

    deinit {
        if descriptor >= 0 { _ = close(descriptor) }
    }
}

/// The reason why there is no usable group.
public struct ControlGroupFinding: Error, Equatable, Sendable {
    /// The reason, as a sentence.
    public let text: String
    /// What the user can do; `nil` if the host only needs a group of its own.
    public let remedy: String?

    public init(_ text: String, remedy: String? = nil) {
        self.text = text
        self.remedy = remedy
    }

    static let howToMount =
        "to mount it, start the kernel with systemd.unified_cgroup_hierarchy=1 or, without systemd, run: "
        + "mount -t cgroup2 none /sys/fs/cgroup"
}

/// The CPU time of a group's present and former processes, read through a descriptor that stays open.
public final class ControlGroupClock: Sendable {
    private let descriptor: CInt

    /// Opens the file `cpu.stat` of a group.
    ///
    /// - Throws: The `open` that failed.
    public init(of group: ControlGroup) throws(SystemCallError) {
        let path = group.path + "/cpu.stat"
        descriptor = try retryingOnInterrupt("open", path) { open(path, O_RDONLY | O_CLOEXEC) }
    }

    deinit {
        _ = close(descriptor)
    }

    /// The CPU time that all processes of the group have used so far; `nil` if the group is gone.
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
