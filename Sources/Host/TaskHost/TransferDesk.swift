import Dispatch
import HostCore
import LinuxSystem
import Synchronization
import TaskModel
import Transferring

/// Performs the core's orders about transfers, away from the host's thread.
///
/// Files are linked into their places together: those that become complete during a sync of the disk share
/// the next one. Copies to other file systems are made several at a time.
final class TransferDesk: Sendable {
    private let configuration: HostConfiguration
    private let directories: StateDirectories
    /// When this host began, in seconds since 1970 on the machine's clock, as files have it.
    private let start = Int(SystemClocks().now().wall.wholeSeconds)
    private let log: HostLog
    private let inbox: Inbox
    private let ordering = DispatchQueue(label: "bgtask.host.transfers")
    private let linking = DispatchQueue(label: "bgtask.host.linking")
    private let complete = Mutex<[CompleteFile]>([])
    private let delivering = DispatchQueue(label: "bgtask.host.delivering", attributes: .concurrent)
    private let parts = Mutex<(program: TransferProgram, files: TransferFiles)?>(nil)

    /// Creates a desk that puts reports into an inbox; it starts nothing.
    init(configuration: HostConfiguration, log: HostLog, inbox: Inbox) {
        self.configuration = configuration
        directories = StateDirectories(root: configuration.stateDirectory)
        self.log = log
        self.inbox = inbox
    }

    /// Learns which layers of the sandbox this machine has, and as whom the program runs; orders may come
    /// afterwards.
    ///
    /// - Parameters:
    ///   - layers: The layers.
    ///   - user: The number of the program's user; `nil` means the host's own.
    func begin(layers: Set<SandboxLayer>, user: UInt32?) {
        if !ProcessFacts.isExecutable(configuration.transferPath) {
            log.append(
                .warning,
                "\(configuration.transferPath) is missing, so the host can't make transfers. Install it beside "
                    + "bgtask-runner, from the same version")
        }
        let files = TransferFiles(
            root: directories.transfers, protected: configuration.stateDirectory,
            dataDirectory: { [directories] in directories.data(of: $0) })
        do {
            try directories.makeTransfers(for: user)
        } catch {
            log.append(.warning, "the directory of the transfers can't be used: \(error)")
        }
        let program = TransferProgram(
            configuration: TransferProgram.Configuration(
                programPath: configuration.transferPath, layers: layers, user: user),
            files: files,
            report: { [inbox] in inbox.put(.transfers($0)) },
            problem: { [log] in log.append(.warning, $0) })
        parts.withLock { $0 = (program, files) }
    }

    /// Performs orders in turn; their results come as inputs.
    func perform(_ orders: [TransferOrder]) {
        guard let (program, files) = parts.withLock(\.self) else { return }
        var ordered: [TransferOrder] = []
        var places: [CompleteFile] = []
        for order in orders {
            switch order {
            case .begin, .reserve, .promote, .allow, .cancel, .remove, .move, .sweep: ordered.append(order)
            case .deliver(let id, .handover(let bundle, let name)):
                delivering.async { [inbox] in
                    inbox.put(.transfers([.delivered(id, files.handOver(id, to: bundle, as: name))]))
                }
            case .deliver(let id, .path(let place)): places.append(CompleteFile(id: id, place: place))
            case .discard(let transfer): delivering.async { files.discard(transfer) }
            }
        }
        if !places.isEmpty {
            complete.withLock { $0 += places }
            linking.async { self.deliver(files) }
        }
        if !ordered.isEmpty {
            ordering.async { [ordered] in self.obey(ordered, program, files) }
        }
    }

    /// Performs the orders whose order among each other matters.
    private func obey(_ orders: [TransferOrder], _ program: TransferProgram, _ files: TransferFiles) {
        var beginning: [TransferProgram.Attempt] = []
        var removed: [TransferID] = []
        for order in orders {
            switch order {
            case .begin(let transfer, let bytesLeft):
                beginning.append(TransferProgram.Attempt(transfer, bytesLeft: bytesLeft))
                continue
            case .reserve(let transfer, let rank, let bytesLeft):
                beginning.append(
                    TransferProgram.Attempt(transfer, rank: rank, isReserved: true, bytesLeft: bytesLeft))
                continue
            default: break
            }
            program.begin(beginning)
            beginning = []
            switch order {
            case .cancel(let id): program.cancel(id)
            case .promote(let id): program.promote(id)
            case .allow(let bundle, let bytes): program.allow(bundle, bytes: bytes)
            // Behind the orders of the same transfer.
            case .remove(let id): removed.append(id)
            // Before the begin of the other transfer, which continues from these bytes.
            case .move(let id, let other): move(id, to: other, files)
            // Before the first begin, whose files would be removed, too.
            case .sweep(let kept, let uploads): sweep(files, keeping: kept, uploads: uploads)
            case .begin, .reserve, .deliver, .discard: continue
            }
        }
        program.begin(beginning)
        if !removed.isEmpty {
            delivering.async { [removed] in self.remove(removed, files) }
        }
    }

    /// Puts all complete files that wait into their places, with one sync for those of one directory.
    private func deliver(_ files: TransferFiles) {
        let batch = complete.withLock { complete in
            defer { complete = [] }
            return complete
        }
        guard !batch.isEmpty else { return }
        let (delivered, distant) = files.link(batch)
        if !delivered.isEmpty { inbox.put(.transfers(delivered.map { .delivered($0.id, $0.problem) })) }
        // To another file system, each is copied, which takes long.
        for file in distant {
            delivering.async { [inbox] in
                inbox.put(.transfers([.delivered(file.id, files.copy(file))]))
            }
        }
    }

    private func remove(_ ids: [TransferID], _ files: TransferFiles) {
        for (id, error) in files.remove(ids) {
            log.append(.warning, "the files of \(id) could not be removed: \(error)")
        }
    }

    private func move(_ id: TransferID, to other: TransferID, _ files: TransferFiles) {
        do {
            try files.move(id, to: other)
        } catch {
            log.append(.warning, "\(other) begins again, because the bytes of \(id) are gone: \(error)")
        }
    }

    private func sweep(_ files: TransferFiles, keeping kept: Set<TransferID>, uploads: Set<String>) {
        do {
            for id in try files.sweep(keeping: kept) {
                log.append(.info, "removed the files of \(id), which an earlier host left")
            }
            for data in try directories.allData() {
                for name in files.sweepUploads(in: data, keeping: uploads, writtenBefore: start) {
                    log.append(
                        .info, "removed \(data)/\(HandoverDirectory.name)/\(name), which nothing will send")
                }
            }
        } catch {
            log.append(.warning, "the files of ended transfers could not be removed: \(error)")
        }
    }

    /// The CPU time that the program has used.
    var cpuTime: Duration { parts.withLock(\.self)?.program.cpuTime ?? .zero }

    /// Ends the program; its transfers go on when the host has started again.
    func shutDown() {
        guard let program = parts.withLock(\.self)?.program else { return }
        ordering.async { program.shutDown() }
    }
}
