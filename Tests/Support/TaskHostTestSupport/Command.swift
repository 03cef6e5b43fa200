public import Foundation
import LinuxSystem

/// The reason why a test could not be done.
public struct TestFailure: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}

/// Other programs that a test needs; a call waits until the program ends.
///
/// The programs start with default signals, unlike the test's own threads, and inherit no descriptor of the
/// test. So none can keep another program's pipe open.
public enum Command {
    public struct Answer {
        public var status: Int32
        public var output: String
    }

    /// Runs a program from `PATH`; the status is 127 if there is no such program.
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

    /// The environment of this process, with the administrator's programs in `PATH` and with additions.
    static func list(_ additions: [String: String]) -> [String] {
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = "\(environment["PATH"] ?? ""):/usr/sbin:/sbin"
        return environment.merging(additions) { $1 }.map { "\($0)=\($1)" }
    }

    /// Whether a program is installed.
    public static func exists(_ program: String) -> Bool { run("which", program).status == 0 }
}

/// A program that runs until its owner ends it. It also ends with the test's process, even if that is killed.
public final class CompanionProcess {
    private let handle: ProcessHandle
    private var leash: DescriptorSocket?
    public let processIdentifier: Int32

    /// Starts a program from `PATH`; its output is appended to a file.
    public init(_ arguments: [String], environment: [String: String] = [:], output: URL) throws {
        // The shell ends the program when the other end of its descriptor 3 is closed everywhere.
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

    /// Ends the program and waits for its end.
    public func end() {
        guard leash != nil else { return }
        leash = nil
        _ = try? handle.reap()
    }
}

/// Waits until a condition holds, and checks it 100 times a second; the limit ends a test that hangs.
public func waitUntil(_ what: String, seconds: Int = 30, _ holds: () throws -> Bool) throws {
    for _ in 0..<(seconds * 100) {
        if try holds() { return }
        usleep(10_000)
    }
    throw TestFailure("waited \(seconds) s and it never held: \(what)")
}
