import Glibc
import Synchronization

/// The processes of a host's launches, with which the peers of its control socket are compared.
public struct LaunchedProcesses: Equatable, Sendable {
    /// The number of the launcher, from which all of them descend; `nil` while none runs.
    public var launcher: Int32?
    /// The name of the cgroup that contains their groups; `nil` without cgroups.
    public var group: String?
    /// The numbers of the users as which only launches run; `nil` if launches run as the host's user.
    public var users: ClosedRange<UInt32>?

    /// Describes the processes of a host's launches.
    public init(launcher: Int32? = nil, group: String? = nil, users: ClosedRange<UInt32>? = nil) {
        (self.launcher, self.group, self.users) = (launcher, group, users)
    }
}

/// Where a process comes from: from a launch of this host, or from elsewhere.
public enum ProcessOrigin: Equatable, Sendable {
    /// The process belongs to a launch; the text says how this was found, as the end of "process 17 ...".
    case launch(String)
    /// The process does not belong to a launch.
    case elsewhere
    /// The process had ended before it could be examined.
    case ended
    /// The process could not be examined; the text says why.
    case unknown(String)

    /// The socket option that returns a pidfd of the peer, at the level `SOL_SOCKET`: `SO_PEERPIDFD` of
    /// Linux 6.5.
    public static var handleOption: CInt { 77 }
    /// The error of a kernel without ``handleOption``.
    public static var noSuchOption: CInt { ENOPROTOOPT }

    /// The supplementary groups of a process; empty if the process is gone or hidden.
    public static func groups(of pid: Int32) -> [UInt32] {
        guard let status = try? SmallFile.read("/proc/\(pid)/status") else { return [] }
        return fields(of: "Groups:", in: status)
    }

    fileprivate static func fields(of key: String, in status: String) -> [UInt32] {
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(key) }) else { return [] }
        return line.dropFirst(key.utf8.count).split { $0 == " " || $0 == "\t" }.compactMap { UInt32($0) }
    }
}

/// Finds out where processes come from.
///
/// It remembers processes that do not descend from the launcher, because they never will. So the ancestors of
/// a shell are examined once, and each command in it only up to the shell. It remembers none on kernels
/// before 6.9, which can't tell a process from a later one with the same number.
public final class ProcessOrigins: Sendable {
    private let memory: Mutex<Memory>

    /// Remembers no process yet.
    ///
    /// - Parameter limit: The greatest number of processes that are remembered; the oldest make room.
    public init(limit: Int = 512) { memory = Mutex(Memory(limit: limit)) }

    /// Examines a process.
    ///
    /// - Parameters:
    ///   - pid: The number of the process; 0 for one in another PID namespace, where no launch is.
    ///   - handle: Refers to the process; `nil` makes the method open it by its number.
    ///   - launched: The processes of the host's launches.
    ///   - whileHeld: Called before it is certain that the number still means the process. What it reads
    ///     about the number is right if the result is ``ProcessOrigin/elsewhere``.
    /// - Returns: Where the process comes from.
    public func origin(
        of pid: Int32, _ handle: ProcessHandle?, among launched: LaunchedProcesses,
        whileHeld: () -> Void = {}
    ) -> ProcessOrigin {
        guard pid > 0 else { return .elsewhere }
        let held: ProcessHandle
        do throws(SystemCallError) {
            if let handle { held = handle } else { held = try ProcessHandle(of: pid) }
        } catch {
            return error.code == ESRCH ? .ended : .unknown("\(error)")
        }
        let origin = examine(pid, held, launched)
        whileHeld()
        // Only now is it certain that the number meant this process all the time.
        return held.waitForEnd(timeoutMilliseconds: 0) ? .ended : origin
    }

    private func examine(_ pid: Int32, _ handle: ProcessHandle, _ launched: LaunchedProcesses)
        -> ProcessOrigin
    {
        do throws(SystemCallError) {
            if let group = launched.group {
                let membership = try SmallFile.read("/proc/\(pid)/cgroup")
                if let line = membership.split(separator: "\n").first(where: { $0.hasPrefix("0::") }),
                    line.dropFirst(3).split(separator: "/").contains(group[...])
                {
                    return .launch("is in the cgroup \(line.dropFirst(3))")
                }
            }
            if let users = launched.users {
                let ids = ProcessOrigin.fields(of: "Uid:", in: try SmallFile.read("/proc/\(pid)/status"))
                if ids.contains(where: users.contains) { return .launch("has the user of a bundle") }
            }
        } catch {
            return error.code == ENOENT || error.code == ESRCH ? .ended : .unknown("\(error)")
        }
        guard let launcher = launched.launcher else { return .elsewhere }
        let identity = handle.identity
        if let identity, memory.withLock({ $0.contains(identity, launched) }) { return .elsewhere }
        for _ in 0..<Self.attempts {
            var identities = identity.map { [$0] } ?? []
            switch search(from: pid, handle, launcher, launched, &identities) {
            case .found: return .launch("descends from the launcher, process \(launcher)")
            case .changed: continue
            case .tooLong: return .unknown("it has more than \(Self.mostAncestors) ancestors")
            case .notFound:
                memory.withLock { $0.insert(identities, launched) }
                return .elsewhere
            }
        }
        return .unknown("its ancestors change all the time")
    }

    /// The greatest number of ancestors that are looked at; shells nest far less deeply.
    private static let mostAncestors = 256
    /// How often a walk is tried during which an ancestor ended.
    private static let attempts = 16

    private enum Search { case found, notFound, changed, tooLong }

    /// Walks from a process to its ancestors, until the launcher, a remembered process or the first process.
    ///
    /// Each ancestor is opened before its number is used. If its child then still names it as the parent, the
    /// number means this ancestor. The identities of all of them are added to `identities`.
    private func search(
        from pid: Int32, _ handle: ProcessHandle, _ launcher: Int32, _ launched: LaunchedProcesses,
        _ identities: inout [UInt64]
    ) -> Search {
        var (current, held) = (pid, handle)
        for _ in 0..<Self.mostAncestors {
            if current == launcher { return .found }
            guard current > 1 else { return .notFound }
            guard let parent = Self.parent(of: current) else {
                // A process that lives on without a readable file is hidden: it belongs to another user.
                return held.waitForEnd(timeoutMilliseconds: 0) ? .changed : .notFound
            }
            guard parent > 1 else { return parent == launcher ? .found : .notFound }
            guard let next = try? ProcessHandle(of: parent), Self.parent(of: current) == parent else {
                return .changed
            }
            if let identity = next.identity {
                if memory.withLock({ $0.contains(identity, launched) }) { return .notFound }
                identities.append(identity)
            }
            (current, held) = (parent, next)
        }
        return .tooLong
    }

    /// The number of the parent; `nil` if the process is gone or hidden.
    private static func parent(of pid: Int32) -> Int32? {
        guard let text = try? SmallFile.read("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else {
            return nil
        }
        let fields = text[text.index(after: end)...].split(separator: " ", maxSplits: 2)
        return fields.count > 1 ? Int32(fields[1]) : nil
    }

    /// The processes that do not descend from one launcher.
    private struct Memory {
        let limit: Int
        private var launched = LaunchedProcesses()
        private var known: Set<UInt64> = []
        /// The remembered processes, oldest first.
        private var order: [UInt64] = []

        init(limit: Int) { self.limit = limit }

        func contains(_ identity: UInt64, _ launched: LaunchedProcesses) -> Bool {
            launched == self.launched && known.contains(identity)
        }

        mutating func insert(_ identities: [UInt64], _ launched: LaunchedProcesses) {
            if launched != self.launched {
                self.launched = launched
                (known, order) = ([], [])
            }
            for identity in identities where known.insert(identity).inserted { order.append(identity) }
            let surplus = max(0, order.count - limit)
            known.subtract(order.prefix(surplus))
            order.removeFirst(surplus)
        }
    }
}
