import Glibc

/// The processes of a host's launches, with which the peers of its control socket are compared.
public struct LaunchedProcesses: Equatable, Sendable {
    /// The number of the launcher, from which all of them descend; `nil` while none runs.
    public var launcher: Int32?
    /// The name of the cgroup that contains their groups; `nil` without cgroups.
    public var group: String?
    /// The users that only launches have; `nil` if they have the host's user.
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
    /// The process does not belong to a launch; these are its supplementary groups.
    case elsewhere(groups: [UInt32])
    /// The process had ended before it could be examined.
    case ended
    /// The process could not be examined; the text says why.
    case unknown(String)

    /// The socket option that returns a pidfd of the peer, at the level `SOL_SOCKET`: `SO_PEERPIDFD` of
    /// Linux 6.5.
    public static var handleOption: CInt { 77 }
    /// The error of a kernel without ``handleOption``.
    public static var noSuchOption: CInt { ENOPROTOOPT }

    /// The greatest number of ancestors that are looked at; shells nest far less deeply.
    private static let mostAncestors = 256

    /// Examines a process.
    ///
    /// - Parameters:
    ///   - pid: The number of the process; 0 for one in another PID namespace, where no launch is.
    ///   - handle: Refers to the process; `nil` makes the method open it by its number.
    ///   - launched: The processes of the host's launches.
    public init(of pid: Int32, _ handle: ProcessHandle?, among launched: LaunchedProcesses) {
        guard pid > 0 else {
            self = .elsewhere(groups: [])
            return
        }
        let held: ProcessHandle
        do throws(SystemCallError) {
            if let handle { held = handle } else { held = try ProcessHandle(of: pid) }
        } catch {
            self = error.code == ESRCH ? .ended : .unknown("\(error)")
            return
        }
        let origin = Self.examine(pid, launched)
        // Only now is it certain that the number meant this process all the time.
        self = held.waitForEnd(timeoutMilliseconds: 0) ? .ended : origin
    }

    private static func examine(_ pid: Int32, _ launched: LaunchedProcesses) -> ProcessOrigin {
        let status: Substring
        let membership: String
        do throws(SystemCallError) {
            status = try SmallFile.read("/proc/\(pid)/status")[...]
            membership = try SmallFile.read("/proc/\(pid)/cgroup")
        } catch {
            return error.code == ENOENT || error.code == ESRCH ? .ended : .unknown("\(error)")
        }
        if let group = launched.group,
            let line = membership.split(separator: "\n").first(where: { $0.hasPrefix("0::") }),
            line.dropFirst(3).split(separator: "/").contains(group[...])
        {
            return .launch("is in the cgroup \(line.dropFirst(3))")
        }
        if let launcher = launched.launcher {
            switch ancestors(of: pid, until: launcher) {
            case .found: return .launch("descends from the launcher, process \(launcher)")
            case .notFound: break
            case .unclear(let finding): return .unknown(finding)
            }
        }
        let ids = fields(of: "Uid:", in: status)
        if let users = launched.users, ids.contains(where: users.contains) {
            return .launch("has the user of a bundle")
        }
        return .elsewhere(groups: fields(of: "Groups:", in: status))
    }

    private static func fields(of key: String, in status: Substring) -> [UInt32] {
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(key) }) else { return [] }
        return line.dropFirst(key.utf8.count).split { $0 == " " || $0 == "\t" }.compactMap { UInt32($0) }
    }

    private enum Search: Equatable {
        case found, notFound
        case unclear(String)
    }

    /// Whether a process descends from another one.
    private static func ancestors(of pid: Int32, until launcher: Int32) -> Search {
        // The walk is repeated until it gives the same ancestors twice, because processes on the way can end,
        // and their numbers can be used again.
        var last: [Int32]?
        for _ in 0..<16 {
            var path = [pid]
            while let current = path.last, current > 1, current != launcher, path.count <= mostAncestors {
                guard let parent = parent(of: current) else { break }
                path.append(parent)
            }
            if path.count > mostAncestors { return .unclear("it has more than \(mostAncestors) ancestors") }
            if path == last { return path.last == launcher ? .found : .notFound }
            last = path
        }
        return .unclear("its ancestors change all the time")
    }

    /// The number of the parent; `nil` if the process is gone, or hidden because it belongs to another user.
    private static func parent(of pid: Int32) -> Int32? {
        guard let text = try? SmallFile.read("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else {
            return nil
        }
        let fields = text[text.index(after: end)...].split(separator: " ")
        return fields.count > 1 ? Int32(fields[1]) : nil
    }
}
