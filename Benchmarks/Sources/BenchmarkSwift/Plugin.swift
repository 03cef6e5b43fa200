public import CHandlerABI
import Foundation

/// The handler that does nothing but complete, with the Swift runtime and Foundation to load first.
nonisolated(unsafe) private let plugin: UnsafePointer<bgtask_plugin> = {
    let storage = UnsafeMutablePointer<bgtask_plugin>.allocate(capacity: 1)
    storage.initialize(
        to: bgtask_plugin(
            abi_version: BGTASK_ABI_VERSION, struct_size: MemoryLayout<bgtask_plugin>.size,
            run: { task, host in
                // A use of Foundation, or the linker would leave it out.
                let message = URL(fileURLWithPath: "/").path
                host?.pointee.complete?(task, 1, message)
            }))
    return UnsafePointer(storage)
}()

/// The plugin's one exported symbol.
@c(bgtask_plugin_entry)
public func entry() -> UnsafePointer<bgtask_plugin>? { plugin }
