import LinuxSystem
import RunnerWire
import Synchronization
public import TaskModel

/// The program `bgtask-transfer`, which makes the transfers, and which the host starts when there is work.
///
/// The program ends itself when it has had no transfer for 30 s. If it dies or says nothing for too long, its
/// transfers end as ``TransferAttemptEnd/Kind/lost``, and the next order starts it again. The orders may
/// block, and must come on one thread or serial queue; ``cpuTime`` may be read on any.
public final class TransferProgram: @unchecked Sendable {
    // Unchecked: `encoder` and `unsent` are touched only by the orders, which come one at a time.

    /// The settings of the program.
    public struct Configuration: Sendable {
        /// The path of `bgtask-transfer`.
        public var programPath: String
        /// The layers of the sandbox that this machine has.
        public var layers: Set<SandboxLayer>
        /// The number of the user of the program; `nil` means the host's own.
        public var user: UInt32?
        /// The shortest time between two reports about one transfer.
        public var progressInterval = Duration.milliseconds(250)
        /// After how many bytes a download can be resumed after a crash of the machine.
        public var recordStep: Int64 = 1 << 20
        /// How often the program says that it is alive.
        public var aliveInterval = Duration.seconds(5)
        /// The longest time without a message, before the program is killed: 30 s.
        ///
        /// Our choice: six missed signs of life. A disk that is slow to write rarely blocks for as long.
        public var silenceLimit = Duration.seconds(30)

        /// Creates a configuration.
        public init(programPath: String, layers: Set<SandboxLayer>, user: UInt32? = nil) {
            self.programPath = programPath
            self.layers = layers
            self.user = user
        }
    }

    /// The layers that apply to this program; the others would hide the network or its own directory.
    private static let usedLayers: [SandboxLayer] = [.capabilities, .landlock, .landlockScopes, .seccomp]
    /// The variables that the program gets: libcurl reads the proxies from them.
    private static let passedVariables = [
        "http_proxy", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY", "TZ",
    ]

    /// How many bytes of orders are sent together: 64 KiB, which the program reads at once.
    private static let sentTogether = 65_536

    private let configuration: Configuration
    private let files: TransferFiles
    private let report: @Sendable ([TransferReport]) -> Void
    private let problem: @Sendable (String) -> Void
    private var encoder = FrameEncoder()
    /// The frames of the newest orders, which wait to be sent together.
    private var unsent: [UInt8] = []
    /// The present process, and the CPU time of those before it.
    private let present = Mutex<(link: TransferLink?, endedCPU: Duration)>((nil, .zero))

    /// Creates the program's owner; starts nothing.
    ///
    /// - Parameters:
    ///   - configuration: The settings.
    ///   - files: The directory of the transfers.
    ///   - report: Called with the reports that came together, on another thread or during a call of
    ///     ``begin(_:)``.
    ///   - problem: Called with sentences for the log.
    public init(
        configuration: Configuration, files: TransferFiles,
        report: @escaping @Sendable ([TransferReport]) -> Void, problem: @escaping @Sendable (String) -> Void
    ) {
        self.configuration = configuration
        self.files = files
        self.report = report
        self.problem = problem
    }

    /// The CPU time that the program has used since the host began, up to its newest report.
    public var cpuTime: Duration { present.withLock { $0.endedCPU + ($0.link?.cpuTime ?? .zero) } }

    /// Begins attempts; each ends with the report ``TransferReport/ended(_:_:received:sent:)``.
    ///
    /// The orders of several downloads are sent together.
    public func begin(_ attempts: [Attempt]) {
        for attempt in attempts { prepare(attempt) }
        sendUnsent()
    }

    /// An attempt that the program is to make.
    public struct Attempt: Sendable {
        let transfer: Transfer
        let rank: Int
        let isReserved: Bool
        let bytesLeft: Int64?

        /// Creates an order.
        ///
        /// - Parameters:
        ///   - transfer: The transfer.
        ///   - rank: Of the reserved transfers of one bundle, those of a higher rank begin first.
        ///   - isReserved: Whether it begins only when a place is free.
        ///   - bytesLeft: How many bytes the transfers of the bundle may still move; `nil` if there is no
        ///     limit.
        public init(
            _ transfer: Transfer, rank: Int = 0, isReserved: Bool = false, bytesLeft: Int64? = nil
        ) {
            (self.transfer, self.rank) = (transfer, rank)
            (self.isReserved, self.bytesLeft) = (isReserved, bytesLeft)
        }
    }

    /// Begins a reserved attempt, if it has not begun.
    public func promote(_ id: TransferID) {
        order(TransferPromoteMessage(transfer: UInt64(id.rawValue)), for: id)
    }

    /// Changes how many bytes the transfers of a bundle may move from now on; `nil` means that there is no
    /// limit.
    public func allow(_ bundle: BundleIdentifier, bytes: Int64?) {
        let message = TransferAllowMessage(bundle: bundle.rawValue, bytes: bytes.map { UInt64(max(0, $0)) })
        guard let link = present.withLock(\.link), let bytes = try? encoder.encode(message) else { return }
        send(bytes, nil, to: link)
    }

    private func order(_ message: some WireMessage, for id: TransferID) {
        guard let link = present.withLock(\.link), link.isOpen(id), let bytes = try? encoder.encode(message)
        else { return }
        send(bytes, nil, to: link)
    }

    /// Orders an attempt, at the latest with ``sendUnsent()``.
    private func prepare(_ attempt: Attempt) {
        let transfer = attempt.transfer
        let request = transfer.request
        let upload: SendingFile?
        do throws(SystemCallError) {
            upload = try files.open(request)
        } catch {
            let failure = TransferFailure(
                .local,
                error.isOfMadeUpFile
                    ? "the file to send has no size, because the kernel makes up its contents when they are read: "
                        + "copy it to an ordinary file first"
                    : "the file to send can't be opened: \(error)")
            return end(
                transfer.id, TransferAttemptEnd(error.isShortage ? .faulty : .futile, failure: failure))
        }
        do {
            let link = try connect(for: transfer.id)
            let bytes = try encoder.encode(message(for: attempt, upload))
            if let upload {
                sendUnsent()
                send(bytes, upload, to: link)
            } else {
                unsent += bytes
                if unsent.count >= Self.sentTogether { sendUnsent() }
            }
        } catch let error as SystemCallError {
            end(transfer.id, TransferAttemptEnd(.faulty, failure: TransferFailure(.local, "\(error)")))
        } catch {
            end(transfer.id, TransferAttemptEnd(.futile, failure: TransferFailure(.local, "\(error)")))
        }
    }

    /// Sends the orders that wait.
    private func sendUnsent() {
        guard !unsent.isEmpty, let link = present.withLock(\.link) else { return }
        let bytes = unsent
        unsent = []
        send(bytes, nil, to: link)
    }

    /// Stops an attempt, if it is still under way.
    public func cancel(_ id: TransferID) {
        order(TransferCancelMessage(transfer: UInt64(id.rawValue)), for: id)
    }

    /// Ends the program; its transfers can be resumed later.
    public func shutDown() { present.withLock(\.link)?.socket.endSending() }

    // MARK: The process

    /// Adds an attempt to the present process, or to a new one if that has ended.
    private func connect(for id: TransferID) throws(SystemCallError) -> TransferLink {
        if let link = present.withLock(\.link), link.add(id) { return link }
        let (ours, theirs) = try DescriptorSocket.pair()
        let layers = Self.usedLayers.filter(configuration.layers.contains).map(\.rawValue)
        let environment = ProcessSpawn.ownEnvironment.filter { entry in
            Self.passedVariables.contains { entry.hasPrefix($0 + "=") }
        }
        let interval = max(1, configuration.aliveInterval.wholeMilliseconds)
        let (process, _) = try ProcessSpawn.start(
            configuration.programPath,
            arguments: [files.root, "\(interval)", "\(configuration.user ?? 0)"] + layers,
            environment: environment, passing: theirs)
        let link = TransferLink(socket: ours, process: process)
        // Its thread has not started, so it has not ended.
        _ = link.add(id)
        present.withLock { $0 = (link, $0.endedCPU + ($0.link?.cpuTime ?? .zero)) }
        encoder = FrameEncoder()
        unsent = []
        BlockingThread.start(named: "bgtask-transfer") { [self] in
            let (reason, isOrderly, lost) = link.serve(silence: configuration.silenceLimit, report)
            if !isOrderly || !lost.isEmpty { problem("the program that makes transfers ended: \(reason)") }
            if !lost.isEmpty { report(lost) }
        }
        return link
    }

    private func message(for attempt: Attempt, _ upload: SendingFile?) -> TransferBeginMessage {
        let transfer = attempt.transfer
        let request = transfer.request
        return TransferBeginMessage(
            transfer: UInt64(transfer.id.rawValue), url: request.url,
            method: request.method ?? (upload == nil ? "GET" : "PUT"), headers: request.headers,
            uploadLength: upload.map { UInt64($0.size) },
            stallMilliseconds: UInt64(max(1, request.stallLimit.wholeMilliseconds)),
            progressMilliseconds: UInt64(max(1, configuration.progressInterval.wholeMilliseconds)),
            recordStep: UInt64(max(1, configuration.recordStep)),
            keepsFile: request.direction == .download && request.place == nil,
            turn: TransferBeginMessage.Turn(
                bundle: request.bundle.rawValue, server: request.server, rank: UInt64(max(0, attempt.rank)),
                isReserved: attempt.isReserved, bytesLeft: attempt.bytesLeft.map { UInt64(max(0, $0)) }))
    }

    private func send(_ bytes: [UInt8], _ file: SendingFile?, to link: TransferLink) {
        // If this fails, the program has ended; the receiving thread reports its transfers as lost.
        try? link.socket.sendAll(bytes, passing: file)
    }

    private func end(_ id: TransferID, _ end: TransferAttemptEnd) {
        report([.ended(id, end, received: 0, sent: 0)])
    }
}
