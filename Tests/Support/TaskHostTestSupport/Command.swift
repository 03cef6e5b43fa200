public import Foundation
import LinuxSystem

/// Why a test could not be done.
public struct TestFailure: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}

/// Other programs that a test needs, run to their end.
///
/// They are started with default signals, which the test's own threads do not have, and with no descriptor of ours:
/// none can keep another's pipe open.
public enum Command {
    public struct Answer {
        public var status: Int32
        public var output: String
    }

    /// Runs a program found in `PATH`; one that is not there has status 127.
    public static func run(_ arguments: [String], environment: [String: String] = [:]) -> Answer {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("out-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            let (_, theirs) = try DescriptorSocket.pair()
            let started = try ProcessSpawn.start(
                "/bin/sh", arguments: ["-c", #"exec >"$0" 2>&1 3<&-; exec "$@""#, file.path] + arguments,
                environment: list(environment), passing: theirs)
            let status = try started.handle.reap()
            let output = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            return Answer(status: status & 0x7F == 0 ? status >> 8 : status, output: output)
        } catch {
            return Answer(status: -1, output: "\(error)")
        }
    }

    public static func run(_ arguments: String...) -> Answer { run(arguments) }

    /// Our environment with the administrator's programs in `PATH` too, and with additions.
    static func list(_ additions: [String: String]) -> [String] {
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = "\(environment["PATH"] ?? ""):/usr/sbin:/sbin"
        return environment.merging(additions) { $1 }.map { "\($0)=\($1)" }
    }

    /// Whether a program is installed.
    public static func exists(_ program: String) -> Bool { run("which", program).status == 0 }
}

/// A program that runs until its owner goes: it ends with the test's process too, however that ends.
public final class CompanionProcess {
    private let handle: ProcessHandle
    private var leash: DescriptorSocket?
    public let processIdentifier: Int32

    /// Starts a program found in `PATH`; what it prints is added to a file.
    public init(_ arguments: [String], environment: [String: String] = [:], output: URL) throws {
        // The shell ends the program when nobody holds the other end of its descriptor 3 any more.
        let script = #"exec >>"$0" 2>&1; "$@" 3<&- & child=$!; read -r _ <&3; kill -9 $child; wait"#
        let (ours, theirs) = try DescriptorSocket.pair()
        let started = try ProcessSpawn.start(
            "/bin/sh", arguments: ["-c", script, output.path] + arguments,
            environment: Command.list(environment), passing: theirs)
        handle = started.handle
        processIdentifier = started.pid
        leash = ours
    }

    deinit { end() }

    /// Ends it and waits for that.
    public func end() {
        guard leash != nil else { return }
        leash = nil
        _ = try? handle.reap()
    }
}

/// Waits until something holds, looking 100 times a second; the limit is a stop for a test that hangs.
public func waitUntil(_ what: String, seconds: Int = 30, _ holds: () throws -> Bool) throws {
    for _ in 0..<(seconds * 100) {
        if try holds() { return }
        usleep(10_000)
    }
    throw TestFailure("waited \(seconds) s and it never held: \(what)")
}
