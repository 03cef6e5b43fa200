import LinuxSystem
import RunnerWire
import TaskModel

/// What the launcher's connection delivers, in order.
enum LauncherInput: Sendable {
    /// A report with the descriptors that came with it; the receiver closes them.
    case report(LauncherReport, descriptors: [CInt])
    /// The connection or the launcher ended, and its process was reaped.
    case ended(message: String)
}

/// One launcher process and its socket.
///
/// Its thread sleeps in the kernel while the launcher has nothing to say.
///
/// Sending is confined to the event loop; receiving to the thread.
final class LauncherLink: @unchecked Sendable {
    // Unchecked: `encoder` and `outbox` are touched on the event loop only, the rest never changes.
    private let socket: DescriptorSocket
    private let process: ProcessHandle
    private var encoder = FrameEncoder()
    private var outbox: [UInt8] = []

    /// The most bytes that wait for a launcher that does not read: more than 10,000 spawns.
    static let maximumOutbox = 4 << 20

    /// Starts a launcher.
    ///
    /// - Throws: The system call that failed, such as `posix_spawn` of a runner that is not there.
    init(runnerPath: String, lockPath: String) throws(SystemCallError) {
        let (ours, theirs) = try DescriptorSocket.pair()
        socket = ours
        process = try ProcessSpawn.start(
            runnerPath, arguments: ["launcher", "--lock", lockPath], environment: ProcessSpawn.ownEnvironment,
            passing: theirs
        ).handle
    }

    /// Begins to receive; `deliver` is called on a thread of its own.
    func receive(_ deliver: @escaping @Sendable (LauncherInput) -> Void) {
        BlockingThread.start(named: "bgtask-launcher") { [socket, process] in
            let message = Self.readAll(socket, deliver)
            // After a broken frame it may still run: it is dropped, and its tasks die with it.
            if !process.waitForEnd(timeoutMilliseconds: 5000) { process.kill() }
            let status = try? process.reap()
            let end =
                status.map { Self.describe(ExitStatus(waitStatus: UInt64(UInt32(bitPattern: $0)))) } ?? ""
            deliver(.ended(message: message + end))
        }
    }

    /// Sends a message, or keeps it until ``flush()`` finds room.
    ///
    /// - Returns: Whether something waits for room.
    func send(_ message: some WireMessage) throws(WireError) -> Bool {
        outbox.append(contentsOf: try encoder.encode(message))
        return flush()
    }

    /// Sends what waits; returns whether something still does.
    func flush() -> Bool {
        while !outbox.isEmpty {
            // An error means that the launcher is gone, of which the thread tells.
            guard let count = try? socket.send(outbox[...]) else { return false }
            if count == 0 { break }
            outbox.removeFirst(count)
        }
        if outbox.count > Self.maximumOutbox { process.kill() }
        return !outbox.isEmpty
    }

    /// Notifies the launcher that the host stops: it drains and ends.
    func endSending() {
        socket.endSending()
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
                if count == 0 { return "the launcher closed its socket" }
                let chunk = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                try decoder.consume(chunk) { kind, body throws(WireError) in
                    guard let report = try LauncherReport(kind: kind, body: body) else { return }
                    guard case .spawned = report else {
                        deliver(.report(report, descriptors: []))
                        return
                    }
                    guard waiting.count >= SpawnedMessage.descriptorCount else {
                        throw WireError(
                            .missingField, "a spawned message came with \(waiting.count) descriptors")
                    }
                    let own = Array(waiting.prefix(SpawnedMessage.descriptorCount))
                    waiting.removeFirst(SpawnedMessage.descriptorCount)
                    deliver(.report(report, descriptors: own))
                }
            }
        } catch let error as WireError {
            return "the launcher broke the protocol: \(error)"
        } catch {
            return "the launcher's socket failed: \(error)"
        }
    }

    private static func describe(_ status: ExitStatus) -> String {
        if let signal = status.signal { return "; it ended by \(ExitStatus.name(ofSignal: signal))" }
        return "; it exited with status \(status.code ?? 0)"
    }
}
