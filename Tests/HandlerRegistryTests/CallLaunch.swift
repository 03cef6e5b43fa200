import Foundation
import HandlerRegistry
import RunnerWire
import TaskModel

/// One call program, run by the real runner with the host's side of the pipes in the test's hands.
struct CallLaunch {
    var ready = false
    var progress: [TaskProgress] = []
    var loadFailed: String?
    var done: DoneMessage?
    var status: Int32 = -1

    /// Runs a program to the end of its process.
    ///
    /// `expireWhen` is asked after every report; the expire frame is sent once it says yes.
    static func run(_ program: [UInt8], expireWhen: (CallLaunch) -> Bool = { _ in false }) throws
        -> CallLaunch
    {
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
        let launch = LaunchMessage(
            launch: 1, request: 1, identifier: "org.example.call", bundle: "org.example",
            taskKind: .processing,
            attempt: 1, token: 1, dataDirectory: "/tmp", temporaryDirectory: "/tmp")
        var bytes = try encoder.encode(launch)
        bytes += try encoder.encode(ProgramMessage(bytes: program))
        bytes += try encoder.encode(StartMessage())
        try control.fileHandleForWriting.write(contentsOf: Data(bytes))

        var result = CallLaunch()
        var decoder = FrameDecoder()
        var isExpired = false
        while case let chunk = report.fileHandleForReading.availableData, !chunk.isEmpty {
            try decoder.consume(Array(chunk)) { kind, body throws(WireError) in
                if let message = try ReportMessage(kind: kind, body: body) { result.note(message) }
            }
            if !isExpired && expireWhen(result) {
                isExpired = true
                let expire = try encoder.encode(
                    ExpireMessage(reason: "simulated", grace: 10_000, deadline: .max))
                try control.fileHandleForWriting.write(contentsOf: Data(expire))
            }
        }
        process.waitUntilExit()
        result.status = process.terminationStatus
        return result
    }

    private mutating func note(_ message: ReportMessage) {
        switch message {
        case .ready: ready = true
        case .progress(let update):
            progress.append(
                TaskProgress(completed: update.completed, total: update.total, message: update.message))
        case .loadFailed(let failure): loadFailed = failure.finding
        case .done(let message): done = done ?? message
        default: break
        }
    }
}

extension TemporaryFolder {
    /// Reads a manifest with a call through the registry and makes its program.
    func program(_ manifest: String, payload: String? = nil) throws -> [UInt8] {
        try write("manifests/call.yaml", manifest)
        let snapshot = registry.scan()
        guard let task = snapshot.handlers.first?.manifest.tasks.first else {
            throw ManifestRefused(problems: snapshot.problems.map(\.description))
        }
        return try task.encodeProgram(payload: payload, for: task.pattern.base) ?? []
    }

    /// Makes the program of a manifest that is shipped.
    func shipped(_ name: String, payload: String) throws -> [UInt8] {
        try program(
            String(contentsOfFile: "\(repository)/manifests/\(name)", encoding: .utf8), payload: payload)
    }

    struct ManifestRefused: Error {
        let problems: [String]
    }
}
