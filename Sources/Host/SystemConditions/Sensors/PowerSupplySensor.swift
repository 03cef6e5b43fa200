import LinuxSystem
import TaskModel

/// External power and batteries from `/sys/class/power_supply`.
struct PowerSupplySensor: Sensor {
    let key = ConditionKey.power
    let source = "sysfs"
    /// `/sys`, or a directory with the same structure.
    let root: String

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)? {
        // Without uevents, as in some containers, the value never changes after the first read.
        try? KernelNotices.devices(of: "power_supply", onNotice)
    }

    func read(at now: Moment) -> SensorAnswer {
        do {
            let directory = "\(root)/class/power_supply"
            guard let names = try AttributeFile.names(in: directory), !names.isEmpty else { return .absent }
            var supplies = Supplies()
            for name in names { try supplies.add("\(directory)/\(name)") }
            return supplies.answer
        } catch {
            return .failed
        }
    }

    /// Combines the entries of the directory into one answer.
    private struct Supplies {
        /// Whether each mains, USB or wireless supply is online.
        private var lines: [Bool] = []
        private var batteries: [String] = []
        private var percents: [Int] = []

        mutating func add(_ path: String) throws(SystemCallError) {
            // The battery of a mouse or a headset does not power this machine.
            if try AttributeFile.read("\(path)/scope") == "Device" { return }
            switch try AttributeFile.read("\(path)/type") {
            case "Battery", "UPS":
                // An empty battery bay.
                if try AttributeFile.read("\(path)/present") == "0" { return }
                batteries.append(try AttributeFile.read("\(path)/status") ?? "Unknown")
                if let percent = try AttributeFile.read("\(path)/capacity").flatMap({ Int($0) }) {
                    percents.append(min(100, max(0, percent)))
                }
            case "Mains", "USB", "Wireless", "BrickID":
                // 1 means fixed voltage and 2 programmable voltage; both supply power.
                if let online = try AttributeFile.read("\(path)/online") { lines.append(online != "0") }
            default: return
            }
        }

        var answer: SensorAnswer {
            // Without a battery, the machine is on mains power, even if a USB-C port is offline.
            if batteries.isEmpty { return .value(.power(.mains)) }
            let isCharging = batteries.contains("Charging")
            let isDischarging = batteries.contains("Discharging")
            let external: Bool
            if lines.contains(true) || isCharging {
                // A battery at its charge limit reports "Not charging" while the plug is connected.
                external = true
            } else if !lines.isEmpty || isDischarging {
                external = false
            } else if batteries.allSatisfy({ $0 == "Full" || $0 == "Not charging" }) {
                external = true
            } else {
                // No supply reports its state, and the battery reports "Unknown".
                return .failed
            }
            let percent = percents.isEmpty ? nil : percents.reduce(0, +) / percents.count
            return .value(
                .power(
                    PowerCondition(
                        externalPower: external, isCharging: isCharging && external, batteryPercent: percent))
            )
        }
    }
}
