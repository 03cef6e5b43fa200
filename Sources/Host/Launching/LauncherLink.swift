import LinuxSystem
import NIOCore
import RunnerWire
import Synchronization
import TaskModel

/// An input from the connection to the launcher; inputs arrive in order.
enum LauncherInput: Sendable {
    /// A report, with the descriptors that came with it; the receiver must close them.
    case report(LauncherReport, descriptors: [CInt])
    /// The connection was lost, and the launcher's process has been reaped.
    case ended(message: String)
    /// A signal has stopped the launcher, or continued it.
    case paused(ProcessHandle.Pause)
}

/// A launcher process and the socket to it.
///
/// A thread receives, and another one waits for signals that stop the launcher; both sleep in the kernel.
/// Sending happens only on the event loop.
final class LauncherLink: @unchecked Sendable {
    // Unchecked: `encoder` and `outbox` are touched on `loop` only, the rest never changes.
    private let loop: any EventLoop
    private let socket: DescriptorSocket
    private let process: ProcessHandle
    /// The number of the launcher's process.
    let processNumber: Int32
    private let killReason = Mutex<String?>(nil)
    private var encoder = FrameEncoder()
    private var outbox: [UInt8] = []

    /// The number of bytes that may wait if the launcher does not read: enough for 10,000 spawns.
    static let maximumOutbox = 4 << 20

    /// Starts a launcher.
    ///
    /// - Parameters:
    ///   - runnerPath: The path of `bgtask-runner`.
    ///   - lockPath: The file that the launcher locks; it waits until an earlier one has let go of it.
    ///   - groups: The parent of all groups, so that no process is left there if the launcher is killed;
    ///     `nil` without cgroups.
    ///   - loop: The event loop on which messages are sent.
    /// - Throws: The failed system call's error, such as that of `posix_spawn` if the runner does not exist.
    init(
        runnerPath: String, lockPath: String, groups: ControlGroup?, on loop: any EventLoop
    ) throws(SystemCallError) {
        self.loop = loop
        let (ours, theirs) = try DescriptorSocket.pair()
        socket = ours
        (process, processNumber) = try ProcessSpawn.start(
            runnerPath,
            arguments: ["launcher", "--lock", lockPath] + (groups.map { ["--groups", $0.path] } ?? []),
            environment: ProcessSpawn.ownEnvironment, passing: theirs)
    }

    /// Starts to receive; `deliver` is called on other threads.
    func receive(_ deliver: @escaping @Sendable (LauncherInput) -> Void) {
        BlockingThread.start(named: "bgtask-pauses") { [self] in
            while let pause = process.waitForPause() { deliver(.paused(pause)) }
        }
        BlockingThread.start(named: "bgtask-launcher") { [self] in
            let finding = Self.readAll(socket, deliver)
            let message = killReason.withLock(\.self) ?? finding
            // After a broken frame, the launcher may still run. It is then killed, and its tasks end with it.
            if !process.waitForEnd(timeoutMilliseconds: 5000) { process.kill() }
            let status = try? process.reap()
            let end =
                status.map { Self.describe(ExitStatus(waitStatus: UInt64(UInt32(bitPattern: $0)))) } ?? ""
            deliver(.ended(message: message + end))
        }
    }

    /// Sends a message; if the socket is full, the message waits until ``flush()`` has room.
    ///
    /// - Returns: Whether any bytes wait.
    func send(_ message: some WireMessage) throws(WireError) -> Bool {
        loop.assertInEventLoop()
        outbox.append(contentsOf: try encoder.encode(message))
        return flush()
    }

    /// Sends the bytes that wait; returns whether any still wait.
    func flush() -> Bool {
        loop.assertInEventLoop()
        while !outbox.isEmpty {
            // An error means that the launcher has ended, which the receiving thread reports.
            guard let count = try? socket.send(outbox[...]) else { return false }
            if count == 0 { break }
            outbox.removeFirst(count)
        }
        if outbox.count > Self.maximumOutbox { process.kill() }
        return !outbox.isEmpty
    }

    /// Notifies the launcher that the host ends; the launcher then ends its tasks and itself.
    func endSending() {
        socket.endSending()
    }

    /// Kills the launcher's process; `reason` is the beginning of the message with which it ends.
    func kill(because reason: String) {
        killReason.withLock { $0 = $0 ?? reason }
        process.kill()
    }

    private static func readAll(
        _ socket: DescriptorSocket, _ deliver: (LauncherInput) -> Void
    ) -> String {
        var decoder = FrameDecoder()
        var waiting: [CInt] = []
        defer { waiting.forEach { _ = OwnedDescriptor(taking: $0) } }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)
        defer { buffer.deallocate() }
        do {
            while true {
                let (count, descriptors) = try socket.receive(into: buffer)
                waiting += descriptors
                if count == 0 { return "the launcher (the process that starts tasks) closed its socket" }
                let chunk = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                try decoder.consume(chunk) { kind, body throws(WireError) in
                    guard let report = try LauncherReport(kind: kind, body: body) else { return }
                    guard case .spawned(let spawned) = report else {
                        deliver(.report(report, descriptors: []))
                        return
                    }
                    let wanted = spawned.descriptorCount
                    guard waiting.count >= wanted else {
                        throw WireError(
                            .missingField,
                            "the report of a new task came with \(waiting.count) descriptors, not \(wanted)")
                    }
                    let own = Array(waiting.prefix(wanted))
                    waiting.removeFirst(wanted)
                    deliver(.report(report, descriptors: own))
                }
            }
        } catch let error as WireError {
            return "the launcher (the process that starts tasks) sent an invalid message: \(error)"
        } catch {
            return "the socket of the launcher (the process that starts tasks) failed: \(error)"
        }
    }

    private static func describe(_ status: ExitStatus) -> String {
        if let signal = status.signal { return "; \(ExitStatus.name(ofSignal: signal)) ended it" }
        return "; it exited with status \(status.code ?? 0)"
    }
}
