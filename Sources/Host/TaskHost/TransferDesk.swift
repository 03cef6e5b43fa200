import Dispatch
import HostCore
import LinuxSystem
import Synchronization
import TaskModel
import Transferring

/// Performs the core's orders about transfers, away from the host's thread.
///
/// Files are put into their places several at a time, because each waits for the disk, and copying a large
/// one takes long.
final class TransferDesk: Sendable {
    private let configuration: HostConfiguration
    private let files: TransferFiles
    private let log: HostLog
    private let inbox: Inbox
    private let ordering = DispatchQueue(label: "bgtask.host.transfers")
    private let delivering = DispatchQueue(label: "bgtask.host.delivering", attributes: .concurrent)
    private let program = Mutex<TransferProgram?>(nil)

    /// Creates a desk that puts reports into an inbox; it starts nothing.
    init(configuration: HostConfiguration, directories: StateDirectories, log: HostLog, inbox: Inbox) {
        self.configuration = configuration
        files = TransferFiles(root: directories.transfers)
        self.log = log
        self.inbox = inbox
    }

    /// Learns which layers of the sandbox this machine has; orders may come afterwards.
    func begin(layers: Set<SandboxLayer>) {
        if !ProcessFacts.isExecutable(configuration.transferPath) {
            log.append(
                .warning,
                "\(configuration.transferPath) is missing, so the host can't make transfers. Install it beside "
                    + "bgtask-runner, from the same version")
        }
        let program = TransferProgram(
            configuration: TransferProgram.Configuration(
                programPath: configuration.transferPath, layers: layers),
            files: files,
            report: { [inbox] in inbox.put(.transfer($0)) },
            problem: { [log] in log.append(.warning, $0) })
        self.program.withLock { $0 = program }
    }

    /// Performs an order; its result comes as an input.
    func perform(_ order: TransferOrder) {
        guard let program = program.withLock(\.self) else { return }
        switch order {
        case .begin(let transfer): ordering.async { program.begin(transfer) }
        case .cancel(let id): ordering.async { program.cancel(id) }
        case .deliver(let id, let place):
            delivering.async { [files, inbox] in
                inbox.put(.transfer(.delivered(id, files.deliver(id, to: place))))
            }
        // Behind the orders of the same transfer, because a begin creates the directory.
        case .remove(let id): ordering.async { self.delivering.async { self.remove(id) } }
        case .sweep(let kept): delivering.async(flags: .barrier) { self.sweep(keeping: kept) }
        }
    }

    private func remove(_ id: TransferID) {
        do {
            try files.remove(id)
        } catch {
            log.append(.warning, "the files of \(id) could not be removed: \(error)")
        }
    }

    private func sweep(keeping kept: Set<TransferID>) {
        do {
            for id in try files.sweep(keeping: kept) {
                log.append(.info, "removed the files of \(id), which an earlier host left")
            }
        } catch {
            log.append(.warning, "the files of ended transfers could not be removed: \(error)")
        }
    }

    /// The CPU time that the program has used.
    var cpuTime: Duration { program.withLock(\.self)?.cpuTime ?? .zero }

    /// Ends the program; its transfers go on when the host has started again.
    func shutDown() {
        guard let program = program.withLock(\.self) else { return }
        ordering.async { program.shutDown() }
    }
}
