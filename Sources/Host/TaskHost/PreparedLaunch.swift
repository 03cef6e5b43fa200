import Launching
import TaskModel

/// A launch with all that it needs but its number.
struct PreparedLaunch: Sendable {
    let request: TaskRequest
    let handler: PermittedHandler
    let declaration: TaskDeclaration
    /// The encoded `call:`; `nil` where a library's handler runs.
    let program: [UInt8]?
    let checkpoint: [UInt8]?
    let lastSuccess: WallTime?
    let dataDirectory: String
    /// The runner in the bundle's app directory; `nil` where the plain one is executed.
    let executable: String?
    let environment: [String]

    /// The order for the launcher.
    func order(
        for record: LaunchRecord, priority: LaunchPriority, in temporaryDirectory: String, isDebugged: Bool,
        conditions: HandlerConditions?
    ) -> LaunchOrder {
        var order = LaunchOrder(
            id: record.id, request: record.request, identifier: record.identifier, bundle: record.bundle,
            kind: record.kind, attempt: record.attempt, token: record.token,
            libraryPath: program == nil ? handler.libraryPath : nil, libraryHash: handler.libraryHash,
            program: program, limits: declaration.limits, dataDirectory: dataDirectory,
            temporaryDirectory: temporaryDirectory)
        order.executable = executable
        order.payload = request.submission.payload
        order.checkpoint = checkpoint
        order.lastSuccess = lastSuccess
        order.title = request.submission.title
        order.subtitle = request.submission.subtitle
        order.permittedIdentifiers = handler.manifest.tasks.map(\.pattern.description)
        order.modes = handler.manifest.modes.sorted { $0.rawValue < $1.rawValue }
        order.conditions = conditions
        order.subprocesses = handler.manifest.sandbox.subprocesses
        order.network = handler.manifest.sandbox.network ?? false
        order.environment = environment
        order.debug = isDebugged
        order.niceness = priority.nice
        order.permittedIdentifiers = handler.manifest.tasks.map(\.pattern.description)
        order.permittedKinds = handler.manifest.tasks.map(\.kind)
        order.modes = handler.manifest.modes.sorted { $0.rawValue < $1.rawValue }
        return order
    }
}
