import Foundation
import Glibc
import RunnerWire
import TaskHostTestSupport
import TaskModel

struct HarnessError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A launch that the launcher could not start because descriptors or the like were missing.
struct PutBack: Error {
    let finding: String
}

/// A real launcher, connected to the test by a socket.
final class TestLauncher {
    let pid: pid_t
    private var socket: CInt
    private var encoder = FrameEncoder()
    private var decoder = FrameDecoder()
    private var reports: [LauncherReport] = []
    private var descriptors: [CInt] = []
    let folder = FileManager.default.temporaryDirectory.appending(path: "runner-\(UUID().uuidString)")
    private var lastNumber: UInt64 = 0
    private var groups: [String] = []
    /// The group above those of the launches; `nil` if the launcher knows none.
    private let base: String?
    private var waited: CInt?

    /// The path of the runner, which the build puts beside this test program.
    static func runnerPath() throws -> String {
        let test = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: test).deletingLastPathComponent().appending(path: "bgtask-runner").path
    }

    /// Starts a launcher. With `wrapper`, that program runs the launcher's command. With `guarded`, its
    /// groups have a parent, which it knows, and so it has a guardian. With `sendBuffer`, so many bytes of
    /// its reports fit into its socket.
    init(
        lock: String? = nil, wrapper: String? = nil, guarded: Bool = false, sendBuffer: CInt? = nil
    ) throws {
        base = guarded ? try Cgroups.make("base-\(UUID().uuidString)") : nil
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var pair: [CInt] = [0, 0]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw HarnessError("socketpair: \(errno)") }
        socket = pair[0]
        if var sendBuffer {
            let size = socklen_t(MemoryLayout.size(ofValue: sendBuffer))
            setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &sendBuffer, size)
        }
        pid = try spawn(
            (wrapper.map { [$0] } ?? []) + [try Self.runnerPath(), "launcher"]
                + (lock.map { ["--lock", $0] } ?? []) + (base.map { ["--groups", $0] } ?? []), at3: pair[1])
        close(pair[1])
        guard case .hello = try next() else { throw HarnessError("no hello") }
    }

    deinit {
        closeSocket()
        if waited == nil { _ = waitForEnd() }
        for group in groups + [base].compactMap(\.self) { rmdir(group) }
        try? FileManager.default.removeItem(at: folder)
    }

    func closeSocket() {
        if socket >= 0 { close(socket) }
        socket = -1
    }

    /// Waits for the launcher's end; returns its wait status.
    func waitForEnd() -> CInt {
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        waited = status
        return status
    }

    func send(_ message: some WireMessage) throws { try writeAll(socket, encoder.encode(message)) }
    func sendBytes(_ bytes: [UInt8]) throws { try writeAll(socket, bytes) }

    /// The launcher's next report; throws after 20 s, or if the launcher ends.
    func next() throws -> LauncherReport {
        while reports.isEmpty {
            guard try waitUntilReadable(socket) else { throw HarnessError("the launcher says nothing") }
            let (bytes, received) = try receive(socket)
            descriptors += received
            guard !bytes.isEmpty else { throw HarnessError("the launcher has gone") }
            var found: [LauncherReport] = []
            try decoder.consume(bytes) { (kind, body) throws(WireError) in
                guard let report = try LauncherReport(kind: kind, body: body) else { return }
                if case .templateStarted = report { return }  // it is no answer
                found.append(report)
            }
            reports += found
        }
        return reports.removeFirst()
    }

    /// Closes the descriptors that came with reports since the last launch; returns their numbers.
    func takeDescriptors() -> [CInt] {
        defer { descriptors = [] }
        for descriptor in descriptors { close(descriptor) }
        return descriptors
    }

    func number() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Requests a template of a fixture, or of no library if `nil`; returns the template's number and the
    /// answer.
    func template(
        _ fixture: String?, _ isolation: GroupKill = .noFork,
        change: (inout TemplateMessage) -> Void = { _ in }
    ) throws -> (UInt64, LauncherReport) {
        let library = try fixture.map { try PluginCompiler.compile($0, into: folder) }
        let id = number()
        var message = TemplateMessage(
            template: id, library: library, directory: folder.path, isolation: isolation)
        message.environment = ["PATH=/usr/bin:/bin"]
        change(&message)
        try send(message)
        return (id, try next())
    }

    /// The number of descriptors that the launcher has open. No other report may be expected meanwhile.
    func countDescriptors() throws -> Int {
        // A report can come before the launcher has closed what belonged to it; this answer comes after that.
        let unknown = number()
        try send(PrepareMessage(template: unknown, cgroup: folder.path, subprocesses: false))
        guard case .prepared(let answer) = try next(), answer.template == unknown, answer.finding != nil
        else {
            throw HarnessError("no answer for a template that was never requested")
        }
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }

    /// Lets the launcher open only so many more descriptors. No other report may be expected meanwhile.
    func limitDescriptors(free: Int) throws {
        _ = try countDescriptors()
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")
        let used = Set(names.compactMap { Int($0) })
        // The numbers below the limit count, also those that were closed.
        var limit = 0
        var left = free
        while left > 0 || used.contains(limit) {
            if !used.contains(limit) { left -= 1 }
            limit += 1
        }
        try setDescriptorLimit(limit)
    }

    func unlimitDescriptors() throws { try setDescriptorLimit(512) }

    private func setDescriptorLimit(_ limit: Int) throws {
        let result = Command.run("prlimit", "--pid", "\(pid)", "--nofile=\(limit):")
        guard result.status == 0 else { throw HarnessError("prlimit: \(result.output)") }
    }

    /// Makes a FIFO in the directory of the templates; returns its read end.
    func makeFIFO(_ name: String) throws -> CInt {
        let path = folder.appending(path: name).path
        guard mkfifo(path, 0o600) == 0 else { throw HarnessError("mkfifo: \(errno)") }
        let end = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if end < 0 { throw HarnessError("open(\(path)): \(errno)") }
        return end
    }

    /// Requests a task and starts its launch; `meanwhile` runs before the answer is read.
    ///
    /// - Throws: ``PutBack`` if the launcher lacked something that it may have later.
    func launch(
        _ template: UInt64, _ isolation: GroupKill = .noFork, fresh: Bool = false, subprocesses: Bool = false,
        conditions: [HandlerConditions] = [], mayEndEarly: Bool = false,
        change: (inout TaskLaunchMessage) -> Void = { _ in },
        meanwhile: () throws -> Void = {}
    ) throws -> TestTask {
        let id = number()
        var group: String?
        if isolation == .cgroup {
            let path = try Cgroups.make("launch-\(pid)-\(id)", in: base)
            groups.append(path)
            group = path
        }
        try send(
            SpawnMessage(
                launch: id, template: template, cgroup: group, subprocesses: subprocesses, fresh: fresh,
                memory: nil))
        try meanwhile()
        let report = try next()
        if case .spawnFailed(let failed) = report, failed.isShortage {
            throw PutBack(finding: failed.finding)
        }
        guard case .spawned(let spawned) = report, descriptors.count == spawned.descriptorCount else {
            throw HarnessError("\(report) with \(descriptors.count) descriptors")
        }
        let task = TestTask(launch: id, pid: pid_t(spawned.pid), descriptors: descriptors)
        descriptors = []
        var message = TaskLaunchMessage(
            launch: id, request: 7, identifier: "com.example.test", bundle: "com.example",
            taskKind: .processing,
            attempt: 2, token: 9, dataDirectory: folder.path, temporaryDirectory: folder.path)
        change(&message)
        do {
            try task.send(message)
            try task.send(PayloadMessage(bytes: Array(#"{"a":1}"#.utf8)))
            try task.send(RestoredCheckpointMessage(bytes: Array("before".utf8)))
            for conditions in conditions { try task.send(ConditionsMessage(conditions)) }
            try task.send(StartMessage())
        } catch is HarnessError where mayEndEarly {
            // It could not begin, and its report says why.
        }
        return task
    }

    /// Requests a template of a fixture and starts a launch of it.
    func run(
        _ fixture: String, _ isolation: GroupKill = .noFork, fresh: Bool = false, subprocesses: Bool = false
    ) throws -> TestTask {
        let (id, answer) = try template(fixture, isolation)
        guard case .templateReady = answer else { throw HarnessError("\(answer)") }
        return try launch(id, isolation, fresh: fresh, subprocesses: subprocesses)
    }

    func exited() throws -> ExitedMessage {
        let report = try next()
        guard case .exited(let exited) = report else { throw HarnessError("\(report)") }
        return exited
    }
}

/// The host's ends of one task.
final class TestTask {
    let launch: UInt64
    let pid: pid_t
    private let descriptors: [CInt]
    private var control: CInt
    private var encoder = FrameEncoder()
    private var decoder = FrameDecoder()
    private var reports: [TaskReportMessage] = []

    init(launch: UInt64, pid: pid_t, descriptors: [CInt]) {
        self.launch = launch
        self.pid = pid
        self.descriptors = descriptors
        control = descriptors[1]
    }

    deinit {
        hangUp()
        for index in descriptors.indices where index != 1 { close(descriptors[index]) }
    }

    var pidfd: CInt { descriptors[0] }
    /// Counts the CPU time of the task and of everything that it starts; `nil` if there is none.
    var counter: CInt? { descriptors.count > 5 ? descriptors[5] : nil }

    func send(_ message: some WireMessage) throws { try writeAll(control, encoder.encode(message)) }
    func sendBytes(_ bytes: [UInt8]) throws { try writeAll(control, bytes) }

    /// Closes the control pipe, as the death of a host does.
    func hangUp() {
        if control >= 0 { close(control) }
        control = -1
    }

    /// The next report; `nil` when all of the task's processes have closed the pipe.
    func next() throws -> TaskReportMessage? {
        while reports.isEmpty {
            guard try waitUntilReadable(descriptors[2]) else { throw HarnessError("the task says nothing") }
            let bytes = try readSome(descriptors[2])
            guard !bytes.isEmpty else { return nil }
            var found: [TaskReportMessage] = []
            try decoder.consume(bytes) { (kind, body) throws(WireError) in
                if let report = try TaskReportMessage(kind: kind, body: body) { found.append(report) }
            }
            reports += found
        }
        return reports.removeFirst()
    }

    /// All reports until the end of the pipe.
    func all() throws -> [TaskReportMessage] {
        var all: [TaskReportMessage] = []
        while let report = try next() { all.append(report) }
        return all
    }

    func waitUntilReady() throws {
        guard case .ready = try next() else { throw HarnessError("not ready") }
    }

    /// Waits for a log line, which fixtures write when they wait.
    func waitForLog() throws {
        guard case .log = try next() else { throw HarnessError("no log line") }
    }

    func output() throws -> String { try text(3) }
    func errors() throws -> String { try text(4) }

    private func text(_ index: Int) throws -> String {
        var bytes: [UInt8] = []
        while true {
            guard try waitUntilReadable(descriptors[index]) else {
                throw HarnessError("the output has no end")
            }
            let more = try readSome(descriptors[index])
            if more.isEmpty { return String(decoding: bytes, as: UTF8.self) }
            bytes += more
        }
    }
}
