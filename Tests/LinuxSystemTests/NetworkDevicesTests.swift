import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

/// What network devices are made of, from a directory that imitates `/sys`, and from the machine's own.
@Suite(.system) struct NetworkDevicesTests {
    /// A directory with the structure of `/sys/class/net`, in which devices are links, as the kernel makes
    /// them.
    private final class Tree {
        let root = FileManager.default.temporaryDirectory.appending(path: "sysfs-\(UUID().uuidString)")

        deinit { try? FileManager.default.removeItem(at: root) }

        func add(
            _ name: String, index: Int, type: Int = 1, uevent: String = "", directories: [String] = [],
            below: [String] = []
        ) throws {
            let files = FileManager.default
            let device = root.appending(path: "devices/net/\(name)")
            let classes = root.appending(path: "class/net")
            for directory in [device, classes] + directories.map({ device.appending(path: $0) }) {
                try files.createDirectory(at: directory, withIntermediateDirectories: true)
            }
            for (file, text) in ["ifindex": "\(index)", "type": "\(type)", "uevent": uevent] {
                try Data("\(text)\n".utf8).write(to: device.appending(path: file))
            }
            for lower in below {
                try files.createSymbolicLink(
                    atPath: device.appending(path: "lower_\(lower)").path, withDestinationPath: "../\(lower)")
            }
            try files.createSymbolicLink(
                atPath: classes.appending(path: name).path, withDestinationPath: "../../devices/net/\(name)")
        }
    }

    private static func tree() throws -> Tree {
        let tree = Tree()
        try tree.add("lo", index: 1, type: 772)
        try tree.add("eth0", index: 2, directories: ["device"])
        try tree.add(
            "wlan0", index: 3, uevent: "DEVTYPE=wlan\nINTERFACE=wlan0",
            directories: ["device", "wireless"])
        try tree.add("wlp1s0", index: 4, directories: ["device", "phy80211"])
        try tree.add(
            "wwan0", index: 5, type: 519, uevent: "INTERFACE=wwan0\nDEVTYPE=wwan", directories: ["device"])
        try tree.add("usb0", index: 6, uevent: "DEVTYPE=wwan", directories: ["device"])
        try tree.add("veth1", index: 7)
        try tree.add("wg0", index: 8, type: 65534, uevent: "DEVTYPE=wireguard")
        try tree.add("bond0", index: 9, uevent: "DEVTYPE=bond", below: ["eth0", "wlan0"])
        try tree.add("bond0.7", index: 10, uevent: "DEVTYPE=vlan", below: ["bond0"])
        try tree.add("loop0", index: 11, below: ["loop0"])
        return tree
    }

    @Test(
        arguments: [
            (2, [.wired]), (3, [.wifi]), (4, [.wifi]), (5, [.cellular]), (6, [.cellular]), (7, [.other]),
            (8, [.other]), (9, [.wired, .wifi]), (10, [.wired, .wifi]), (11, [.other]), (99, []),
        ] as [(UInt32, Set<NetworkInterface>)])
    func `a device is what the kernel and the devices below it say`(
        index: UInt32, kinds: Set<NetworkInterface>
    )
        throws
    {
        let tree = try Self.tree()
        #expect(NetworkDevices(sysfsRoot: tree.root.path).kinds(of: [index]) == kinds)
    }

    @Test func `several devices are a union, and without sysfs nothing is known`() throws {
        let tree = try Self.tree()
        #expect(
            NetworkDevices(sysfsRoot: tree.root.path).kinds(of: [2, 5, 8]) == [.wired, .cellular, .other])
        #expect(NetworkDevices(sysfsRoot: "/nonexistent").kinds(of: [2]).isEmpty)
    }

    @Test func `the machine's own default route has a device of some kind`() throws {
        let devices = try DefaultRoute.devices()
        guard try DefaultRoute.exists(), !devices.isEmpty else {
            print("skipped: this machine has no default route")
            return
        }
        let kinds = NetworkDevices().kinds(of: devices)
        #expect(!kinds.isEmpty)
        for index in devices {
            let names = try FileManager.default.contentsOfDirectory(atPath: "/sys/class/net")
            for name in names
            where (try? String(contentsOfFile: "/sys/class/net/\(name)/ifindex", encoding: .utf8))
                == "\(index)\n"
            {
                let isHardware = FileManager.default.fileExists(atPath: "/sys/class/net/\(name)/device")
                #expect(isHardware != kinds.isSubset(of: [.other]), "\(name): \(kinds)")
            }
        }
    }
}
