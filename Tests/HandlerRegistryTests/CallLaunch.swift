import Foundation
import HandlerRegistry
import RunnerWire
import TaskModel

/// One launch of a `call:` program by the real runner; the test has the host's ends of the pipes.
struct CallLaunch {
    var ready = false
    var progress: [TaskProgress] = []
    var loadFailed: String?
    var done: DoneMessage?
    /// What the task did when it crashed.
    var crash: String?
    var status: Int32 = -1
    private var hasStack = false

    /// Runs a program until its process ends.
    ///
    /// - Parameters:
    ///   - program: The program, in the form in which the host sends it to the runner.
    ///   - expireAtOnce: Whether the expire frame directly follows the frame that starts the launch.
    ///   - expireWhen: Called after every report; when it returns true, the expire frame is sent.
    ///   - whenExpired: Called when the program's `onExpiration` has returned, if the task is still running.
    ///   - killWhen: Called after every report; when it returns true, the task is killed.
    static func run(
        _ program: [UInt8], expireAtOnce: Bool = false, expireWhen: (CallLaunch) -> Bool = { _ in false },
        whenExpired: () throws -> Void = {}, killWhen: (CallLaunch) -> Bool = { _ in false }
    ) throws -> CallLaunch {
        let test = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let runner = URL(fileURLWithPath: test).deletingLastPathComponent().appendingPathComponent(
            "bgtask-runner")
        let process = Process()
        let (control, report) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "exec 3<&0 4>&1 </dev/null >/dev/null; exec \"$0\" task 0 noSubprocesses", runner.path,
        ]
        process.standardInput = control
        process.standardOutput = report
        try process.run()
        var encoder = FrameEncoder()
        let launch = TaskLaunchMessage(
            launch: 1, request: 1, identifier: "org.example.call", bundle: "org.example",
            taskKind: .processing,
            attempt: 1, token: 1, dataDirectory: "/tmp", temporaryDirectory: "/tmp")
        var bytes = try encoder.encode(launch)
        bytes += try encoder.encode(ProgramMessage(bytes: program))
        bytes += try encoder.encode(StartMessage())
        let expire = TaskExpireMessage(reason: "simulated", grace: 10_000, deadline: .max)
        if expireAtOnce { bytes += try encoder.encode(expire) }
        try control.fileHandleForWriting.write(contentsOf: Data(bytes))

        var result = CallLaunch()
        var decoder = FrameDecoder()
        var isExpired = expireAtOnce
        while case let chunk = report.fileHandleForReading.availableData, !chunk.isEmpty {
            try decoder.consume(Array(chunk)) { kind, body throws(WireError) in
                if let message = try TaskReportMessage(kind: kind, body: body) { result.note(message) }
            }
            if !isExpired && expireWhen(result) {
                isExpired = true
                // The task handles frames in order, so it sends the requested stack after the expiration
                // handler has run.
                let thread = SampleMessage(thread: UInt64(process.processIdentifier))
                let frames = try encoder.encode(expire) + encoder.encode(thread)
                try control.fileHandleForWriting.write(contentsOf: Data(frames))
            }
            if result.hasStack {
                result.hasStack = false
                try whenExpired()
            }
            if killWhen(result) { kill(process.processIdentifier, SIGKILL) }
        }
        process.waitUntilExit()
        result.status = process.terminationStatus
        return result
    }

    private mutating func note(_ message: TaskReportMessage) {
        switch message {
        case .ready: ready = true
        case .progress(let update):
            progress.append(
                TaskProgress(completed: update.completed, total: update.total, message: update.message))
        case .stack: hasStack = true
        case .loadFailed(let failure): loadFailed = failure.finding
        case .crash(let message): crash = message.activity
        case .done(let message): done = done ?? message
        default: break
        }
    }
}

extension TemporaryFolder {
    /// Reads a manifest with a `call:` through the registry, and returns the program of its first task.
    func program(_ manifest: String, payload: String? = nil) throws -> [UInt8] {
        try write("manifests/call.yaml", manifest)
        let snapshot = registry.scan()
        guard let manifest = snapshot.handlers.first?.manifest, let task = manifest.tasks.first else {
            throw ManifestRefused(problems: snapshot.problems.map(\.description))
        }
        let program = try manifest.encodeProgram(
            payload: payload, for: task.pattern.base, dataDirectory: nil)
        guard case .call(let bytes) = program else { return [] }
        return bytes
    }

    /// Returns the program of a shipped manifest.
    func shipped(_ name: String, payload: String) throws -> [UInt8] {
        try program(
            String(contentsOfFile: "\(repository)/manifests/\(name)", encoding: .utf8), payload: payload)
    }

    struct ManifestRefused: Error {
        let problems: [String]
    }
}
