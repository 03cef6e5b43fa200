import LinuxSystem
import RunnerWire
import Synchronization
public import TaskModel

/// The program `bgtask-transfer`, which makes the transfers, and which the host starts when there is work.
///
/// The program ends itself when it has had no transfer for 30 s. If it dies, its transfers end as
/// ``TransferAttemptEnd/Kind/lost``, and the next order starts it again. All methods may block; call them on
/// one thread.
public final class TransferProgram: @unchecked Sendable {
    // Unchecked: `link` and `encoder` are touched only by the thread that calls the methods; what the
    // receiving thread also uses is in `state`.

    /// The settings of the program.
    public struct Configuration: Sendable {
        /// The path of `bgtask-transfer`.
        public var programPath: String
        /// The directory of all transfers; each has a directory of its own in it.
        public var directory: String
        /// The layers of the sandbox that this machine has.
        public var layers: Set<SandboxLayer>
        /// The data directory of a bundle; the handover directory is in it.
        public var dataDirectory: @Sendable (BundleIdentifier) -> String
        /// The shortest time between two reports about one transfer.
        public var progressInterval = Duration.milliseconds(250)
        /// After how many bytes a download can be resumed after a crash of the machine.
        public var recordStep: Int64 = 1 << 20

        /// Creates a configuration.
        public init(
            programPath: String, directory: String, layers: Set<SandboxLayer>,
            dataDirectory: @escaping @Sendable (BundleIdentifier) -> String
        ) {
            self.dataDirectory = dataDirectory
            self.programPath = programPath
            self.directory = directory
            self.layers = layers
        }
    }

    /// One process, and the transfers that it was ordered to make.
    private final class Link: Sendable {
        let socket: DescriptorSocket
        let process: ProcessHandle
        /// The attempts under way, with the bytes that each has received and sent.
        let open = Mutex<[Int64: (received: Int64, sent: Int64)]>([:])
        let hasEnded = Mutex(false)

        init(socket: DescriptorSocket, process: ProcessHandle) {
            self.socket = socket
            self.process = process
        }
    }

    /// The layers that apply to this program; the others would hide the network or its own directory.
    private static let usedLayers: [SandboxLayer] = [.capabilities, .landlock, .landlockScopes, .seccomp]
    /// The variables that the program gets: libcurl reads the proxies from them.
    private static let passedVariables = [
        "http_proxy", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY", "TZ",
    ]

    private let configuration: Configuration
    private let report: @Sendable (TransferReport) -> Void
    private let problem: @Sendable (String) -> Void
    private var link: Link?
    private var encoder = FrameEncoder()
    /// The CPU time of the programs that have ended, and of the present one.
    private let usedCPU = Mutex<(ended: Duration, present: Duration)>((.zero, .zero))

    /// Creates the program's owner; starts nothing.
    ///
    /// - Parameters:
    ///   - configuration: The settings.
    ///   - report: Called with every report, on another thread or during a call of ``begin(_:)``.
    ///   - problem: Called with sentences for the log.
    public init(
        configuration: Configuration, report: @escaping @Sendable (TransferReport) -> Void,
        problem: @escaping @Sendable (String) -> Void
    ) {
        self.configuration = configuration
        self.report = report
        self.problem = problem
    }

    /// The CPU time that the program has used since the host began, up to its newest report.
    public var cpuTime: Duration { usedCPU.withLock { $0.ended + $0.present } }

    /// The directory of a transfer.
    public func directory(of id: TransferID) -> String { "\(configuration.directory)/\(id.rawValue)" }

    /// Begins an attempt; it ends with the report ``TransferReport/ended(_:_:received:sent:)``.
    public func begin(_ transfer: Transfer) {
        do {
            try DirectoryTree.make(directory(of: transfer.id))
            let request = transfer.request
            let file = request.direction == .upload ? try open(request) : nil
            let message = TransferBeginMessage(
                transfer: UInt64(transfer.id.rawValue), url: request.url,
                method: request.method ?? (file == nil ? "GET" : "PUT"), headers: request.headers,
                uploadLength: file.map { UInt64($0.size) },
                stallMilliseconds: UInt64(max(1, request.stallLimit.wholeMilliseconds)),
                progressMilliseconds: UInt64(max(1, configuration.progressInterval.wholeMilliseconds)),
                recordStep: UInt64(max(1, configuration.recordStep)))
            let link = try connect()
            link.open.withLock { $0[transfer.id.rawValue] = (0, 0) }
            try send(message, file, to: link)
            // If the program ended meanwhile, its end may have been noticed before the transfer was added.
            if link.hasEnded.withLock(\.self) { lose(link) }
        } catch let error as SystemCallError {
            let isFile = error.call == "open" || error.call == "fstat"
            end(
                transfer.id,
                TransferAttemptEnd(
                    isFile && !error.isShortage && transfer.request.direction == .upload
                        ? .refused : .faulty,
                    failure: TransferFailure(.local, "\(error)")))
        } catch {
            end(transfer.id, TransferAttemptEnd(.refused, failure: TransferFailure(.local, "\(error)")))
        }
    }

    /// Stops an attempt, if it is still under way.
    public func cancel(_ id: TransferID) {
        guard let link, link.open.withLock({ $0[id.rawValue] != nil }) else { return }
        try? send(TransferCancelMessage(transfer: UInt64(id.rawValue)), nil, to: link)
    }

    /// Puts a complete file into its place, and reports that.
    public func deliver(_ transfer: Transfer) {
        do {
            let source = directory(of: transfer.id) + "/data"
            if let name = transfer.request.handover {
                try HandoverDirectory(in: configuration.dataDirectory(transfer.request.bundle))
                    .put(source, as: name)
            } else {
                try FileDelivery.put(source, at: transfer.request.file ?? "", mark: "\(transfer.id)")
            }
            report(.delivered(transfer.id, nil))
        } catch {
            report(
                .delivered(
                    transfer.id,
                    TransferFailure(.notDelivered, "the file can't be put into its place: \(error)")))
        }
    }

    /// Opens the file to send.
    private func open(_ request: TransferRequest) throws(SystemCallError) -> SendingFile {
        guard let name = request.handover else { return try SendingFile(request.file ?? "") }
        return try HandoverDirectory(in: configuration.dataDirectory(request.bundle)).open(name)
    }

    /// Removes the file of an upload from its bundle's handover directory.
    public func discard(_ transfer: Transfer) {
        guard let name = transfer.request.handover, transfer.request.direction == .upload else { return }
        let data = configuration.dataDirectory(transfer.request.bundle)
        // The app may have removed it, and the bundle may be gone.
        if let directory = try? HandoverDirectory(in: data) { directory.remove(name) }
    }

    /// Gives the bytes of a transfer that has ended to another one, which continues it.
    public func move(_ id: TransferID, to other: TransferID) {
        do {
            try DirectoryTree.remove(directory(of: other))
            _ = try DirectoryTree.rename(directory(of: id), to: directory(of: other))
        } catch {
            problem("\(other) begins again, because the bytes of \(id) are gone: \(error)")
        }
    }

    /// Removes the files of a transfer.
    public func remove(_ id: TransferID) {
        do {
            try DirectoryTree.remove(directory(of: id))
        } catch {
            problem("the files of \(id) could not be removed: \(error)")
        }
    }

    /// Ends the program; its transfers can be resumed later.
    public func shutDown() { link?.socket.endSending() }

    // MARK: The process

    private func connect() throws(SystemCallError) -> Link {
        if let link, !link.hasEnded.withLock(\.self) { return link }
        let (ours, theirs) = try DescriptorSocket.pair()
        let layers = Self.usedLayers.filter(configuration.layers.contains).map(\.rawValue)
        let environment = ProcessSpawn.ownEnvironment.filter { entry in
            Self.passedVariables.contains { entry.hasPrefix($0 + "=") }
        }
        let (process, _) = try ProcessSpawn.start(
            configuration.programPath, arguments: [configuration.directory] + layers,
            environment: environment, passing: theirs)
        let link = Link(socket: ours, process: process)
        self.link = link
        encoder = FrameEncoder()
        BlockingThread.start(named: "bgtask-transfer") { [self] in
            let finding = readAll(link)
            link.hasEnded.withLock { $0 = true }
            // After an invalid message, the program may still run.
            if !process.waitForEnd(timeoutMilliseconds: 2000) { process.kill() }
            _ = try? process.reap()
            if let finding { problem(finding) }
            usedCPU.withLock { $0 = ($0.ended + $0.present, .zero) }
            lose(link)
        }
        return link
    }

    private func send(
        _ message: some WireMessage, _ file: SendingFile?, to link: Link
    ) throws {
        let bytes = try encoder.encode(message)
        do {
            try link.socket.sendAll(bytes, passing: file)
        } catch {
            // The program has ended; the receiving thread reports its transfers as lost.
            return
        }
    }

    /// Reports the transfers of a program that has ended.
    private func lose(_ link: Link) {
        let lost = link.open.withLock { open in
            defer { open = [:] }
            return open
        }
        for (id, bytes) in lost.sorted(by: { $0.key < $1.key }) {
            report(
                .ended(
                    TransferID(rawValue: id),
                    TransferAttemptEnd(
                        .lost, failure: TransferFailure(.local, "the program that makes transfers ended")),
                    received: bytes.received, sent: bytes.sent))
        }
    }

    private func end(_ id: TransferID, _ end: TransferAttemptEnd) {
        report(.ended(id, end, received: 0, sent: 0))
    }

    // MARK: Reports

    private static let protocolVersion: UInt64 = 1

    /// Reads until the program ends; returns what was wrong with its messages, or `nil`.
    private func readAll(_ link: Link) -> String? {
        var decoder = FrameDecoder()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)
        defer { buffer.deallocate() }
        do {
            while true {
                let (count, descriptors) = try link.socket.receive(into: buffer)
                for descriptor in descriptors { _ = OwnedDescriptor(taking: descriptor) }
                if count == 0 { return nil }
                let chunk = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                try decoder.consume(chunk) { kind, body throws(WireError) in
                    guard let message = try TransferProgramReport(kind: kind, body: body) else { return }
                    if case .hello(let hello) = message, hello.protocolVersion != Self.protocolVersion {
                        throw WireError(
                            .range, "it speaks version \(hello.protocolVersion) of the protocol, not 1")
                    }
                    take(message, link)
                }
            }
        } catch let error as WireError {
            return "bgtask-transfer sent an invalid message: \(error)"
        } catch {
            return nil
        }
    }

    private func take(_ message: TransferProgramReport, _ link: Link) {
        switch message {
        case .hello: return
        case .response(let message):
            let id = TransferID(rawValue: message.transfer.bounded)
            let response = TransferResponse(
                status: Int(message.status.bounded), url: message.url ?? "",
                headers: (message.headers ?? "").split(separator: "\n").map(String.init), etag: message.etag,
                lastModified: message.lastModified)
            report(.response(id, response, total: message.total?.bounded))
        case .progress(let message):
            note(cpuMicroseconds: message.cpuMicroseconds)
            let id = message.transfer.bounded
            let (received, sent) = (message.received.bounded, message.sent.bounded)
            let isOpen = link.open.withLock { $0.updateValue((received, sent), forKey: id) != nil }
            guard isOpen else { return }
            report(
                .progress(
                    TransferID(rawValue: id), completed: message.completed.bounded,
                    total: message.total?.bounded, received: received, sent: sent))
        case .ended(let message):
            note(cpuMicroseconds: message.cpuMicroseconds)
            let id = message.transfer.bounded
            guard link.open.withLock({ $0.removeValue(forKey: id) }) != nil else { return }
            report(
                .ended(
                    TransferID(rawValue: id), Self.end(message), received: message.received.bounded,
                    sent: message.sent.bounded))
        }
    }

    private func note(cpuMicroseconds microseconds: UInt64) {
        usedCPU.withLock { $0.present = .microseconds(microseconds.bounded) }
    }

    private static func end(_ message: TransferEndedMessage) -> TransferAttemptEnd {
        var failure: TransferFailure?
        if let text = message.message {
            failure =
                if let code = message.code {
                    TransferFailure(domain: .network, code: Int(code.bounded), message: text)
                } else if let status = message.status, message.result == .answered || message.result == .busy
                {
                    TransferFailure(domain: .server, code: Int(status.bounded), message: text)
                } else {
                    TransferFailure(.local, text)
                }
        }
        return TransferAttemptEnd(
            message.result, completed: message.completed.bounded, failure: failure,
            retryAfter: message.retryAfterSeconds.map { .seconds(Int64(min($0, 1 << 40))) })
    }
}

extension UInt64 {
    /// The number, or 2^50 if it is greater.
    ///
    /// No length or count of bytes is greater, and sums of such numbers can't overflow. A process that speaks
    /// to the network sends these numbers, so they must not trap.
    fileprivate var bounded: Int64 { Int64(Swift.min(self, 1 << 50)) }
}
