import BgtaskCommands
import ControlClient
import ControlServer
import Foundation
import LinuxSystem
import Logging
import ServiceLifecycle
import Synchronization
import TaskModel

/// A folder for one test, with a path that is short enough for a socket.
struct TemporaryFolder: ~Copyable {
    let path: String

    init() throws {
        path = "/tmp/bgc-\(UUID().uuidString.prefix(8))"
        try DirectoryTree.make(path, mode: 0o700)
    }

    deinit { try? DirectoryTree.remove(path) }
}

/// Serves a scripted host on a real socket while the body runs, then shuts down cleanly.
func serving(
    _ host: ScriptedHost = ScriptedHost(), limits: ControlServer.Limits = ControlServer.Limits(),
    access: ControlAccess = ControlAccess(), _ body: @Sendable (ScriptedHost, String) async throws -> Void
) async throws {
    let folder = try TemporaryFolder()
    let socket = folder.path + "/run/control.sock"
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let (served, sign) = AsyncStream.makeStream(of: Void.self)
    let server = try ControlServer(
        host: host, socketPath: socket, limits: limits, access: access, logger: logger
    ) {
        sign.finish()
    }
    let group = ServiceGroup(services: [server], logger: logger)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask {
            defer { sign.finish() }
            try await group.run()
        }
        for await _ in served {}
        do {
            try await body(host, socket)
        } catch {
            await group.triggerGracefulShutdown()
            throw error
        }
        host.endEvents()
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
    }
}

/// The output and the exit status of a command.
struct CommandResult {
    var status: Int32
    var output: String
    var errors: String

    /// The output as one JSON object or array.
    var json: Any? {
        try? JSONSerialization.jsonObject(with: Data(output.utf8), options: [.fragmentsAllowed])
    }
    /// The output as a JSON object.
    var object: [String: Any] { json as? [String: Any] ?? [:] }
    /// The output as a JSON array of objects.
    var rows: [[String: Any]] { json as? [[String: Any]] ?? [] }
}

/// The folder of the built programs, which also holds this test program.
var builtPrograms: String {
    let own = URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0])
    return own.deletingLastPathComponent().path
}

/// The output of a command that runs in this process.
private final class Written: Sendable {
    private let texts = Mutex((output: "", errors: ""))

    func output(_ text: String) { texts.withLock { $0.output += text } }
    func errors(_ text: String) { texts.withLock { $0.errors += text } }

    func result(_ status: Int32) -> CommandResult {
        texts.withLock { CommandResult(status: status, output: $0.output, errors: $0.errors) }
    }
}

/// Runs the command line `bgtask` in this process, with the socket of a host.
func bgtask(
    _ arguments: String..., socket: String?, environment: [String: String] = [:], input: String? = nil
) async -> CommandResult {
    await bgtask(
        arguments + (socket.map { ["--socket", $0] } ?? []), environment: environment, input: input)
}

/// Runs the command line `bgtask` in this process; with a width, its output is a terminal.
func bgtask(
    _ arguments: [String], environment: [String: String] = [:], input: String? = nil, width: Int? = nil
) async -> CommandResult {
    let written = Written()
    var surroundings = Surroundings(
        now: { ScriptedHost.start + .seconds(60) }, output: { written.output($0) },
        errors: { written.errors($0) })
    surroundings.environment = environment
    surroundings.isTerminal = width != nil
    surroundings.width = width
    surroundings.input = { Array((input ?? "").utf8) }
    return written.result(await CommandLineTool.run(arguments, in: surroundings))
}

/// Runs a program until it ends. Its output goes to files, because a pipe could fill up.
func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], input: String? = nil
) async throws -> CommandResult {
    let folder = try TemporaryFolder()
    let (output, errors, given) = (folder.path + "/out", folder.path + "/err", folder.path + "/in")
    for file in [output, errors] { _ = FileManager.default.createFile(atPath: file, contents: nil) }
    _ = FileManager.default.createFile(atPath: given, contents: Data((input ?? "").utf8))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    var variables = ProcessInfo.processInfo.environment
    for name in ["BGTASK_SOCKET", "XDG_RUNTIME_DIR", "NO_COLOR"] { variables[name] = nil }
    process.environment = variables.merging(environment) { $1 }
    process.standardInput = FileHandle(forReadingAtPath: given)
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: errors)
    let status = try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Int32, any Error>) in
        process.terminationHandler = { ended.resume(returning: $0.terminationStatus) }
        do {
            try process.run()
        } catch {
            ended.resume(throwing: error)
        }
    }
    return CommandResult(
        status: status, output: try String(contentsOfFile: output, encoding: .utf8),
        errors: try String(contentsOfFile: errors, encoding: .utf8))
}
