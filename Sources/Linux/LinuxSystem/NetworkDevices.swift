import Glibc
public import TaskModel

/// Tells from the kernel's attributes what network devices are made of.
public struct NetworkDevices: Sendable {
    /// How many devices may lie below one another, such as a cable below a bond below a VLAN: our choice.
    private static let mostLevels = 4

    private let directory: String

    /// - Parameter sysfsRoot: `/sys`, or for tests a directory with the same structure.
    public init(sysfsRoot: String = "/sys") { directory = sysfsRoot + "/class/net" }

    /// What the devices with these numbers are made of.
    ///
    /// A bond, a bridge or a VLAN is what the devices below it are made of.
    ///
    /// - Parameter indexes: The numbers, as the kernel's routes have them.
    /// - Returns: The kinds; none for devices that do not exist any more.
    public func kinds(of indexes: Set<UInt32>) -> Set<NetworkInterface> {
        var found: Set<NetworkInterface> = []
        for name in names(in: directory) {
            guard let index = attribute("ifindex", of: name).flatMap(UInt32.init), indexes.contains(index)
            else {
                continue
            }
            found.formUnion(kinds(ofDevice: name, levels: Self.mostLevels))
        }
        return found
    }

    private func kinds(ofDevice name: String, levels: Int) -> Set<NetworkInterface> {
        let path = "\(directory)/\(name)"
        let type = deviceType(of: name)
        if type == "wwan" { return [.cellular] }
        if type == "wlan" || SmallFile.exists(path + "/wireless") || SmallFile.exists(path + "/phy80211") {
            return [.wifi]
        }
        let below = names(in: path).filter { $0.hasPrefix("lower_") }
        if levels > 0, !below.isEmpty {
            return below.reduce(into: []) {
                $0.formUnion(kinds(ofDevice: String($1.dropFirst(6)), levels: levels - 1))
            }
        }
        // Only devices of hardware have this link. ARPHRD_ETHER is 1.
        let isCable = attribute("type", of: name) == "1" && SmallFile.exists(path + "/device")
        return isCable ? [.wired] : [.other]
    }

    /// What the driver calls the device in its events, such as `wlan`; `nil` if nothing.
    private func deviceType(of name: String) -> String? {
        let lines = attribute("uevent", of: name)?.split(separator: "\n") ?? []
        return lines.first { $0.hasPrefix("DEVTYPE=") }.map { String($0.dropFirst(8)) }
    }

    private func attribute(_ attribute: String, of name: String) -> String? {
        (try? AttributeFile.read("\(directory)/\(name)/\(attribute)")) ?? nil
    }

    private func names(in directory: String) -> [String] {
        ((try? AttributeFile.names(in: directory)) ?? nil) ?? []
    }
}
