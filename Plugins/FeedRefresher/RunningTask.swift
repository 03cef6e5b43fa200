import CHandlerABI
import Foundation

/// The C ABI of one launch in Swift types, as its handler uses it.
struct RunningTask {
    let task: OpaquePointer
    let host: bgtask_host

    private var launch: bgtask_launch? { host.launch?(task)?.pointee }

    /// The request's payload; `nil` if it has none.
    var payload: Data? {
        guard let launch, let bytes = launch.payload, launch.payload_length > 0 else { return nil }
        return Data(bytes: bytes, count: launch.payload_length)
    }

    /// The data directory of the bundle.
    var dataDirectory: String { launch?.data_directory.map { String(cString: $0) } ?? "." }

    /// Whether the host has asked the task to stop.
    var isExpired: Bool { host.expired?(task, nil) == 1 }

    /// Declares that this handler obeys expiration.
    ///
    /// The host grants a grace period only to a handler that has requested the descriptor or set an
    /// expiration handler.
    func acceptsExpiration() { _ = host.expiration_descriptor?(task) }

    func report(_ completed: Int, of total: Int, _ message: String) {
        _ = host.progress?(task, Int64(completed), Int64(total), message)
    }

    func log(_ level: bgtask_log_level, _ message: String) { host.log?(task, level, message) }

    func complete(success: Bool, _ message: String) { host.complete?(task, success ? 1 : 0, message) }
}
