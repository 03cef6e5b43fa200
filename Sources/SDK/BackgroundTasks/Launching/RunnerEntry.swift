public import CHandlerABI
import Foundation

/// What the runner asks for; the C side keeps a pointer to it for the life of the process.
///
/// Unsafe only to the compiler: written once, before anyone can see it, and never again.
nonisolated(unsafe) private let plugin: UnsafePointer<bgtask_plugin> = {
    let storage = UnsafeMutablePointer<bgtask_plugin>.allocate(capacity: 1)
    storage.initialize(
        to: bgtask_plugin(
            abi_version: BGTASK_ABI_VERSION, struct_size: MemoryLayout<bgtask_plugin>.size,
            run: { task, table in
                guard let task, let table else { return }
                LaunchedApp.run(RunnerHost(task, table.pointee))
            }))
    return UnsafePointer(storage)
}()

/// The entry of every plugin that this module is linked into.
@c(bgtask_plugin_entry)
public func pluginEntry() -> UnsafePointer<bgtask_plugin>? { plugin }

/// That this symbol is there tells the host that the plugin is an app; never called.
@c(bgtask_app_entry)
public func appEntry() {}
