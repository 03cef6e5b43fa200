public import CHandlerABI
import Foundation

/// The plugin struct that the entry function returns; the runner keeps the pointer for the life of the
/// process.
///
/// `nonisolated(unsafe)` is correct here, because the struct is written once, before any thread can read it.
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

/// The entry function of every plugin that links this module.
@c(bgtask_plugin_entry)
public func pluginEntry() -> UnsafePointer<bgtask_plugin>? { plugin }

/// Never called: the presence of this symbol shows the host that the plugin is an app.
@c(bgtask_app_entry)
public func appEntry() {}
