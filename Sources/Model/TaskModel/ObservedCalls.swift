/// The system calls of a launch that the sandbox refused and, after a learning run, those that used a grant.
///
/// The launcher answers these calls in place of the kernel, so the record also contains calls of programs
/// that the task started. Its texts are safe to show.
public struct ObservedCalls: Codable, Equatable, Sendable {
    /// How a call uses its subject.
    public enum Use: String, Codable, Sendable, CaseIterable {
        /// Reads the file or lists the directory.
        case read
        /// Changes, creates or removes the file.
        case write
        /// Executes the file.
        case execute
        /// Connects to the port.
        case connect
    }

    /// One system call with one subject.
    public struct Call: Codable, Equatable, Hashable, Sendable {
        /// The name of the system call, such as `openat`.
        public var name: String
        /// What the call was about: a path, `port 443`, or `AF_INET, SOCK_STREAM`; `nil` if unknown.
        public var subject: String?
        /// How the call used the subject; `nil` for calls that use neither a file nor a connection.
        public var use: Use?
        /// Whether the sandbox refused the call; otherwise, a grant of the manifest permitted it.
        public var isRefused: Bool
        /// How often the launch made the call.
        public var count: Int

        public init(name: String, subject: String?, use: Use?, isRefused: Bool, count: Int) {
            self.name = name
            self.subject = subject
            self.use = use
            self.isRefused = isRefused
            self.count = count
        }
    }

    /// The different calls, in the order in which they were first made.
    public var calls: [Call]
    /// How many more calls there were, for which the record had no room.
    public var further: Int
    /// Whether the uses of files, programs and connections were observed, too.
    ///
    /// Otherwise, the record contains
    /// only refusals by the filter of system calls, and not those of opened files.
    public var isComplete: Bool

    public init(calls: [Call] = [], further: Int = 0, isComplete: Bool) {
        self.calls = calls
        self.further = further
        self.isComplete = isComplete
    }

    /// The refused calls.
    public var refused: [Call] { calls.filter(\.isRefused) }
}

extension ObservedCalls.Call {
    /// For example `the sandbox refused openat of /etc/hosts for writing; to permit it: sandbox: {write:
    /// [/etc]}`.
    public var refusal: String {
        let remedy = grant.map { "to permit it: sandbox: {\($0)}" } ?? "no grant permits it"
        return "the sandbox refused \(summary); \(remedy)"
    }

    /// For example `openat of /etc/hosts for writing`.
    public var summary: String {
        guard let subject else { return name }
        return switch use {
        case .read: "\(name) of \(subject) for reading"
        case .write: "\(name) of \(subject) for writing"
        case .execute: "\(name) of \(subject)"
        case .connect: "\(name) to \(subject)"
        case nil: "\(name) (\(subject))"
        }
    }

    /// The entry in `sandbox:` that permits the call, such as `read: [/etc/hosts]`; `nil` if none does.
    public var grant: String? {
        switch name {
        case "fork", "vfork", "clone", "execve", "execveat": return "subprocesses: true"
        case "socket":
            let isInternet = subject.map { $0.hasPrefix("AF_INET, ") || $0.hasPrefix("AF_INET6, ") }
            return isInternet == true ? "network: true" : nil
        case "socketpair":
            return subject?.hasPrefix("AF_UNIX, SOCK_STREAM") == true ? "subprocesses: true" : nil
        case "connect":
            guard let port else { return nil }
            return "network: {connect: [\(port)]}"
        case "bind", "listen", "accept", "accept4":
            return "network: true"
        default: break
        }
        guard let subject, subject.hasPrefix("/") else { return nil }
        if subject.hasPrefix("/dev/") { return "devices: [\(subject)]" }
        if subject.hasPrefix("/proc/") || subject.hasPrefix("/sys/") {
            return use == .read ? "read: [\(subject)]" : nil
        }
        switch use {
        case .read: return "read: [\(subject)]"
        case .write:
            // The narrowest grant with which the directory exists.
            if name == "mkdir" || name == "mkdirat" { return "write: [{path: \(subject), create: true}]" }
            return "write: [\(Self.parent(of: subject))]"
        case .execute, .connect, nil: return nil
        }
    }

    /// The port of a connection; `nil` if the call is not about one.
    public var port: UInt16? {
        guard let subject, subject.hasPrefix("port ") else { return nil }
        return UInt16(subject.dropFirst(5))
    }

    /// The directory that contains a path, because a write grant names directories.
    public static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}

/// Which calls of a launch are recorded.
public enum CallObservation: String, Sendable, Codable, CaseIterable {
    /// Those that the filter of system calls refuses, which costs nothing otherwise.
    case refused
    /// Also those that use files, programs and connections. Each of them takes some 10 us longer.
    case all
}
