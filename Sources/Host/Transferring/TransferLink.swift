import LinuxSystem
import RunnerWire
import Synchronization
import TaskModel

/// One process of `bgtask-transfer`, and the attempts that it was ordered to make.
final class TransferLink: Sendable {
    /// The version of the messages.
    static let protocolVersion: UInt64 = 3

    /// The bytes that an attempt has received and sent.
    struct Bytes {
        var received: Int64 = 0
        var sent: Int64 = 0
    }

    let socket: DescriptorSocket
    private let process: ProcessHandle
    /// The attempts under way, and why the program ended; `nil` while it runs.
    private let state = Mutex<(open: [TransferID: Bytes], end: String?)>(([:], nil))
    /// The CPU time of the program up to its newest report.
    private let usedCPU = Mutex(Duration.zero)

    init(socket: DescriptorSocket, process: ProcessHandle) {
        self.socket = socket
        self.process = process
    }

    /// The CPU time of the program up to its newest report.
    var cpuTime: Duration { usedCPU.withLock(\.self) }

    /// Adds an attempt; returns false if the program has ended, so that it takes no orders.
    func add(_ id: TransferID) -> Bool {
        state.withLock { state in
            if state.end != nil { return false }
            state.open[id] = Bytes()
            return true
        }
    }

    /// Whether an attempt is under way.
    func isOpen(_ id: TransferID) -> Bool { state.withLock { $0.open[id] != nil } }

    /// Notes why the program ended; no attempt can be added afterwards.
    ///
    /// - Returns: The end of each attempt that was under way, oldest first.
    private func end(_ reason: String) -> [TransferReport] {
        let lost = state.withLock { state in
            defer { state = ([:], reason) }
            return state.open
        }
        let failure = TransferFailure(.local, "the program that makes transfers ended: \(reason)")
        return lost.sorted { $0.key < $1.key }.map { id, bytes in
            .ended(
                id, TransferAttemptEnd(.lost, failure: failure), received: bytes.received, sent: bytes.sent)
        }
    }

    // MARK: Reading

    /// Reads messages until the program ends, and reaps it; blocks the thread.
    ///
    /// - Parameters:
    ///   - silence: The longest time without a message, before the program is killed.
    ///   - report: Called with the reports that came together.
    /// - Returns: Why the program ended, whether that was its own decision, as after 30 s without work, and
    ///   the ends of the attempts that were under way.
    func serve(
        silence: Duration, _ report: ([TransferReport]) -> Void
    ) -> (reason: String, isOrderly: Bool, lost: [TransferReport]) {
        let finding = readAll(silence: silence, report)
        // After an invalid message or a silence, the program may still run.
        if finding != nil || !process.waitForEnd(timeoutMilliseconds: 2000) { process.kill() }
        let status = (try? process.reap()).map { ProcessEnd(waitStatus: $0) }
        let isOrderly = finding == nil && status == .exited(0)
        let reason = finding ?? status?.sentence ?? "its status is not known"
        return (reason, isOrderly, end(reason))
    }

    /// Returns what was wrong with the program; `nil` if it closed the socket.
    private func readAll(silence: Duration, _ report: ([TransferReport]) -> Void) -> String? {
        var decoder = FrameDecoder()
        var lastWords: String?
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)
        defer { buffer.deallocate() }
        do {
            try socket.setReceiveTimeout(silence)
            while true {
                let (count, descriptors) = try socket.receive(into: buffer)
                for descriptor in descriptors { _ = OwnedDescriptor(taking: descriptor) }
                if count == 0 { return lastWords }
                let chunk = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                var reports: [TransferReport] = []
                // What came before a violation counts.
                defer { if !reports.isEmpty { report(reports) } }
                try decoder.consume(chunk) { kind, body throws(WireError) in
                    guard let message = try TransferProgramReport(kind: kind, body: body) else { return }
                    switch message {
                    case .hello(let hello) where hello.protocolVersion != Self.protocolVersion:
                        throw WireError(
                            .range,
                            "it speaks version \(hello.protocolVersion) of the protocol, not \(Self.protocolVersion)"
                        )
                    case .failed(let failed): lastWords = failed.message
                    default: if let next = take(message) { reports.append(next) }
                    }
                }
            }
        } catch let error as WireError {
            return "it sent an invalid message: \(error)"
        } catch let error as SystemCallError where error.isTimeout {
            return "it said nothing for \(DurationText.format(silence)), and was killed"
        } catch {
            return lastWords
        }
    }

    /// The report for the host; `nil` if there is none.
    private func take(_ message: TransferProgramReport) -> TransferReport? {
        switch message {
        case .hello, .alive, .failed: return nil
        case .began(let message): return .began(TransferID(rawValue: message.transfer.bounded))
        case .response(let message):
            return .response(message.id, message.response, total: message.length, isWhole: message.isWhole)
        case .progress(let message):
            usedCPU.withLock { $0 = .microseconds(message.cpuMicroseconds.bounded) }
            let bytes = Bytes(received: message.received.bounded, sent: message.sent.bounded)
            let isOpen = state.withLock { state in
                if state.open[message.id] == nil { return false }
                state.open[message.id] = bytes
                return true
            }
            guard isOpen else { return nil }
            return .progress(
                message.id, completed: message.completed.bounded, total: message.total?.bounded,
                received: bytes.received, sent: bytes.sent)
        case .ended(let message):
            usedCPU.withLock { $0 = .microseconds(message.cpuMicroseconds.bounded) }
            guard state.withLock({ $0.open.removeValue(forKey: message.id) }) != nil else { return nil }
            return .ended(
                message.id, message.attemptEnd, received: message.received.bounded,
                sent: message.sent.bounded)
        }
    }
}

/// How a process ended.
enum ProcessEnd: Equatable {
    case exited(Int32)
    case signalled(Int32)

    /// Reads the status that `waitpid` returns.
    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7F
        self = signal == 0 ? .exited((waitStatus >> 8) & 0xFF) : .signalled(signal)
    }

    var sentence: String {
        switch self {
        case .exited(let status): "it exited with status \(status)"
        case .signalled(let number): "it was killed by signal \(number)"
        }
    }
}
