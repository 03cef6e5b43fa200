public import CHandlerABI
import Foundation

/// A handler that only completes, in a library that loads the Swift runtime and Foundation.
nonisolated(unsafe) private let plugin: UnsafePointer<bgtask_plugin> = {
    let storage = UnsafeMutablePointer<bgtask_plugin>.allocate(capacity: 1)
    storage.initialize(
        to: bgtask_plugin(
            abi_version: BGTASK_ABI_VERSION, struct_size: MemoryLayout<bgtask_plugin>.size,
            run: { task, host in
                // This use of Foundation keeps the linker from leaving Foundation out.
                let message = URL(fileURLWithPath: "/").path
                host?.pointee.complete?(task, 1, message)
            }))
    return UnsafePointer(storage)
}()

/// The only symbol that the plugin exports.
@c(bgtask_plugin_entry)
public func entry() -> UnsafePointer<bgtask_plugin>? { plugin }
