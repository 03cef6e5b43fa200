/// FeedRefresher: reads the RSS and Atom files of a directory and keeps a digest of them in SQLite.
///
/// Its payload is `{"directory": PATH, "database": PATH}`. The defaults are `feeds` and `digest.sqlite` in
/// the bundle's data directory. Each file is one transaction that can be repeated. So a launch that was asked
/// to stop needs no checkpoint: the next attempt finds the finished files unchanged and skips them.
public import CHandlerABI
import Foundation

/// The value that the entry function returns.
///
/// The C side keeps a pointer to it until the process ends.
///
/// `nonisolated(unsafe)` is correct here: the value is written once, before any other code can read it.
nonisolated(unsafe) private let plugin: UnsafePointer<bgtask_plugin> = {
    let storage = UnsafeMutablePointer<bgtask_plugin>.allocate(capacity: 1)
    storage.initialize(
        to: bgtask_plugin(
            abi_version: BGTASK_ABI_VERSION, struct_size: MemoryLayout<bgtask_plugin>.size,
            run: { task, host in
                guard let task, let host else { return }
                run(RunningTask(task: task, host: host.pointee))
            }))
    return UnsafePointer(storage)
}()

/// The only symbol that the plugin exports.
@c(bgtask_plugin_entry)
public func entry() -> UnsafePointer<bgtask_plugin>? { plugin }

/// The payload of a request.
private struct Payload: Decodable {
    var directory: String?
    var database: String?
}

private func run(_ task: RunningTask) {
    task.acceptsExpiration()
    do {
        let payload = try task.payload.map { try JSONDecoder().decode(Payload.self, from: $0) } ?? Payload()
        let folder = payload.directory ?? task.dataDirectory + "/feeds"
        let digest = try Digest(path: payload.database ?? task.dataDirectory + "/digest.sqlite")
        let refresh = Refresh(folder: folder, digest: digest, task: task)
        guard let summary = try refresh.run() else {
            task.log(
                BGTASK_LOG_NOTICE,
                "the host asked it to stop; the next attempt continues with the remaining files")
            return
        }
        task.complete(success: summary.failures == 0, summary.description)
    } catch {
        task.complete(success: false, "\(error)")
    }
}
