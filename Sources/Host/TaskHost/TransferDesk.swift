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
    private let directories: StateDirectories
    private let log: HostLog
    private let inbox: Inbox
    private let ordering = DispatchQueue(label: "bgtask.host.transfers")
    private let delivering = DispatchQueue(label: "bgtask.host.delivering", attributes: .concurrent)
    private let program = Mutex<TransferProgram?>(nil)

    /// Creates a desk that puts reports into an inbox; it starts nothing.
    init(configuration: HostConfiguration, directories: StateDirectories, log: HostLog, inbox: Inbox) {
        self.configuration = configuration
        self.directories = directories
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
                programPath: configuration.transferPath, directory: directories.transfers, layers: layers,
                dataDirectory: { [directories] in directories.data(of: $0) }),
            report: { [inbox] in inbox.put(.transfer($0)) },
            problem: { [log] in log.append(.warning, $0) })
        self.program.withLock { $0 = program }
    }

    /// Performs an order; its result comes as an input.
    func perform(_ command: TransferCommand) {
        guard let program = program.withLock(\.self) else { return }
        switch command {
        case .begin(let transfer): ordering.async { program.begin(transfer) }
        case .cancel(let id): ordering.async { program.cancel(id) }
        case .move(let id, let other): ordering.async { program.move(id, to: other) }
        case .discard(let transfer): delivering.async { program.discard(transfer) }
        case .deliver(let transfer): delivering.async { program.deliver(transfer) }
        // A removal passes both queues, so that it comes after a begin and a delivery of the same transfer: a
        // begin creates the directory that the removal removes.
        case .remove(let id): ordering.async { [delivering] in delivering.async { program.remove(id) } }
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
