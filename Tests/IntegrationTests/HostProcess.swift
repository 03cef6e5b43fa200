import Foundation
import TaskHostTestSupport
import Testing

/// A real `bgtaskd` in its own directory, controlled by the real `bgtask`.
///
/// Every test has its own host. The host's directory and processes disappear with the test.
final class HostProcess {
    let directory: URL
    private(set) var process: Process?
    private let extraArguments: [String]
    /// The source of conditions: `simulated`, or `system` for a test that imitates the machine's real
    /// sources.
    var conditions = "simulated"
    /// Runs the host as this user, who gets the host's directory; the test itself must run as root.
    var user: UInt32?
    /// A program with its arguments that starts the host, such as `strace -D`; empty for none.
    var prefix: [String] = []
    /// Variables of the host's environment, in addition to those of the test process.
    ///
    /// The launch spacing is zero, so that a test may launch an identifier repeatedly without waiting.
    var environment: [String: String] = ["BGTASK_SCHEDULING_LAUNCH_SPACING": "0s"]

    var plugins: URL { directory.appendingPathComponent("plugins") }
    var manifests: URL { directory.appendingPathComponent("manifests") }
    var state: URL { directory.appendingPathComponent("state") }
    var socket: URL { directory.appendingPathComponent("run/control.sock") }
    var logFile: URL { directory.appendingPathComponent("host.log") }
    private var control: ControlSocket { ControlSocket(path: socket.path) }
    private let news = News()

    /// The directory of the built products, which holds this test program.
    static let products: URL = {
        let executable = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return executable.deletingLastPathComponent()
    }()

    init(_ extraArguments: String...) throws {
        self.extraArguments = extraArguments
        directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "bgtask-\(UUID().uuidString)")
        for folder in [plugins, manifests] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        // A host that runs as root refuses plugins that other users can write.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: plugins.path)
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: directory)
    }

    /// The number of the host's process; 0 before the host runs.
    var processIdentifier: Int32 { process?.processIdentifier ?? 0 }

    /// Starts the host and waits until it answers.
    func start() throws {
        let host = try launch()
        try wait("the host answers") { (try? control.get("/plugins")) != nil || !host.isRunning }
        if !host.isRunning { throw HostFailure("bgtaskd ended at its start:\n\(logTail(20))") }
        try control.follow { [news] in news.arrive() }
    }

    /// Starts the host and does not wait.
    @discardableResult
    func launch() throws -> Process {
        let host = Process()
        let program = Self.products.appendingPathComponent("bgtaskd")
        let starter = user == nil ? "/usr/bin/env" : "/usr/bin/setpriv"
        host.executableURL = user == nil && prefix.isEmpty ? program : URL(fileURLWithPath: starter)
        let user = try user.map(become) ?? []
        let wrapper = user + prefix
        host.arguments =
            (wrapper.isEmpty ? [] : wrapper + [program.path])
            + [
                "--plugins", plugins.path, "--manifests", manifests.path, "--state", state.path,
                "--socket", socket.path, "--conditions", conditions, "--log-level", "debug",
            ] + extraArguments
        if !FileManager.default.fileExists(atPath: logFile.path) {
            try Data().write(to: logFile)
        }
        let log = try FileHandle(forWritingTo: logFile)
        log.seekToEndOfFile()
        host.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        host.standardError = log
        host.standardOutput = log
        try host.run()
        process = host
        return host
    }

    /// Gives the directory to a user; returns the `setpriv` command that starts a program as that user.
    private func become(_ user: UInt32) throws -> [String] {
        let owned = Command.run("chown", "-R", "\(user):\(user)", directory.path)
        if owned.status != 0 { throw HostFailure("chown: \(owned.output)") }
        return ["--reuid", "\(user)", "--regid", "\(user)", "--clear-groups"]
    }

    /// The user `nobody`, who has no special rights.
    static let ordinaryUser: UInt32 = 65534
    /// The reason why no host can run as that user here; `nil` if one can.
    static let ordinaryUserObstacle: String? = {
        if geteuid() != 0 { return "needs root, to start a host as another user" }
        let host = products.appendingPathComponent("bgtaskd").path
        let answer = Command.run(
            "setpriv", "--reuid", "\(ordinaryUser)", "--regid", "\(ordinaryUser)", "--clear-groups", host,
            "--version")
        return answer.status == 0 ? nil : "user \(ordinaryUser) may not run \(host)"
    }()

    /// Limits the size of every file that the host writes, in bytes; `nil` removes the limit.
    func limitFileSizes(to bytes: Int?) throws {
        let command = Process()
        command.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let limit = bytes.map { "\($0):" } ?? "unlimited:"
        command.arguments = ["prlimit", "--pid", "\(processIdentifier)", "--fsize=\(limit)"]
        try command.run()
        command.waitUntilExit()
        if command.terminationStatus != 0 {
            throw HostFailure("prlimit ended with \(command.terminationStatus)")
        }
    }

    /// Kills the host with SIGKILL, as the kernel does when memory runs out.
    func kill() {
        guard let process, process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Asks the host to stop, waits for it and returns its exit status.
    func stop() -> Int32 {
        guard let process else { return -1 }
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    struct Answer {
        var status: Int32
        var output: String
        var errors: String
    }

    /// Runs `bgtask` with this host's socket.
    @discardableResult
    func run(_ arguments: String...) -> Answer { run(arguments) }

    @discardableResult
    func run(_ arguments: [String]) -> Answer {
        let command = Process()
        command.executableURL = Self.products.appendingPathComponent("bgtask")
        command.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        environment["BGTASK_SOCKET"] = socket.path
        environment["NO_COLOR"] = "1"
        command.environment = environment
        let files = ["out", "err"].map { directory.appendingPathComponent("\(UUID().uuidString).\($0)") }
        defer { for file in files { try? FileManager.default.removeItem(at: file) } }
        do {
            for file in files { try Data().write(to: file) }
            command.standardOutput = try FileHandle(forWritingTo: files[0])
            command.standardError = try FileHandle(forWritingTo: files[1])
            try command.run()
        } catch {
            return Answer(status: -1, output: "", errors: "\(error)")
        }
        command.waitUntilExit()
        return Answer(
            status: command.terminationStatus,
            output: (try? String(contentsOf: files[0], encoding: .utf8)) ?? "",
            errors: (try? String(contentsOf: files[1], encoding: .utf8)) ?? "")
    }

    /// Starts `bgtask` with this host's socket, and does not wait for its end.
    func spawn(_ arguments: String...) throws -> Process {
        let command = Process()
        command.executableURL = Self.products.appendingPathComponent("bgtask")
        command.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        environment["BGTASK_SOCKET"] = socket.path
        command.environment = environment
        command.standardOutput = FileHandle.nullDevice
        command.standardError = FileHandle.nullDevice
        try command.run()
        return command
    }

    /// The JSON output of a `bgtask` command; throws if the output is not JSON.
    func json(_ arguments: String...) throws -> Any {
        let answer = run(arguments + ["--json"])
        guard let value = try? JSONSerialization.jsonObject(with: Data(answer.output.utf8)) else {
            throw HostFailure("bgtask \(arguments) gave \(answer.status): \(answer.output) \(answer.errors)")
        }
        return value
    }

    /// The launches, newest first, in the form of `bgtask launches --json`.
    func launches(of identifier: String? = nil) throws -> [[String: Any]] {
        let answer = try control.get("/launches" + (identifier.map { "?identifier=\($0)" } ?? ""))
        guard let rows = answer as? [[String: Any]] else { throw HostFailure("no rows: \(answer)") }
        return rows
    }

    /// Installs a C plugin and its manifest by copying two files, as a user does.
    func install(_ source: String, library: String, manifest: String, named name: String) throws {
        let file = directory.appendingPathComponent("\(name).c")
        try source.write(to: file, atomically: true, encoding: .utf8)
        let built = directory.appendingPathComponent(library)
        try Self.compile(file, into: built)
        // A library is installed by renaming, so that the host never sees an incomplete file.
        try FileManager.default.moveItem(at: built, to: plugins.appendingPathComponent(library))
        try manifest.write(
            to: manifests.appendingPathComponent("\(name).yaml"), atomically: true, encoding: .utf8)
    }

    /// Compiles a plugin with the system's compiler.
    static func compile(_ source: URL, into library: URL) throws {
        try PluginCompiler.build(
            source, into: library,
            options: ["-shared", "-fPIC", "-Wall", "-Werror", "-D_GNU_SOURCE", "-pthread"])
    }

    /// Waits until a condition holds; checks it at every event of the host, and 20 times a second.
    ///
    /// The limit in seconds ends the test if the host hangs; it is no claim about the host's speed.
    func wait(_ what: String, seconds: Int = 120, until holds: () throws -> Bool) throws {
        let limit = Date(timeIntervalSinceNow: Double(seconds))
        repeat {
            if try holds() { return }
            news.wait()
        } while Date() < limit
        throw HostFailure("waited \(seconds) s and it never held: \(what)\n\(logTail(30))")
    }

    /// The last lines of the host's log.
    func logTail(_ count: Int) -> String {
        let text = (try? String(contentsOf: logFile, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(count).joined(separator: "\n")
    }

    /// The processes whose command line or working directory names this host's directory, except the host
    /// itself.
    func leftovers() -> [String] {
        let listing = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return listing.compactMap { name -> String? in
            guard let number = Int32(name), number != processIdentifier else { return nil }
            let command = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") ?? Data()
            let text = String(decoding: command, as: UTF8.self).replacingOccurrences(of: "\0", with: " ")
            let place =
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(name)/cwd")) ?? ""
            let isOurs = text.contains(directory.path) || place.hasPrefix(directory.path)
            return isOurs ? "\(name) \(text) in \(place)" : nil
        }
    }
}

/// The reason why a test's host did not do what the test needs.
struct HostFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
