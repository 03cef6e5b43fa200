import Foundation

/// A directory with the structure of `/sys`; it is removed together with this object.
final class FakeSysfs {
    let root: String

    init() throws {
        root = FileManager.default.temporaryDirectory.path + "/bgtask-sysfs-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    /// Adds or changes a device of a class.
    func add(_ device: String, in subsystem: String = "power_supply", _ attributes: [String: String] = [:])
        throws
    {
        let directory = "\(root)/class/\(subsystem)/\(device)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        for (name, value) in attributes {
            try "\(value)\n".write(toFile: "\(directory)/\(name)", atomically: true, encoding: .utf8)
        }
    }
}
