import LinuxSystem
import TaskModel

/// Whether the machine has a GPU for computation: a DRM render node.
struct RenderNodeSensor: Sensor {
    let key = ConditionKey.gpu
    let source = "sysfs"
    /// `/sys`, or a directory with the same structure.
    let root: String

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)? {
        try? KernelNotices.devices(of: "drm", onNotice)
    }

    func read(at now: Moment) -> SensorAnswer {
        do {
            let names = try AttributeFile.names(in: "\(root)/class/drm") ?? []
            return names.contains { $0.hasPrefix("renderD") } ? .value(.gpu(true)) : .absent
        } catch {
            return .failed
        }
    }
}
