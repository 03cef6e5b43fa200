import LinuxSystem
import Synchronization
import TaskModel

/// How hot the machine is, from the trip points of `/sys/class/thermal`.
///
/// The kernel's trip points show what a temperature means for this machine
/// (`Documentation/driver-api/thermal`). From `active` on, fans run (fair). From `passive` on, the kernel
/// slows the machine down (serious). From `hot` on, the machine is in danger (critical). At `critical`, the
/// kernel switches the machine off, so the sensor reports critical 5 °C earlier. Zones without trip points
/// are ignored.
final class ThermalSensor: Sensor {
    /// How far below the kernel's `critical` point the level becomes critical, in thousandths of a degree
    /// Celsius: 5 degrees, our choice, so that launches can end before the kernel switches the machine off.
    static let criticalMargin = 5_000
    /// How far the temperature must fall below the start of a level to leave it, in thousandths of a degree:
    /// 3 degrees, our choice, so that the level does not change with each reading.
    static let hysteresis = 3_000
    /// How often the sensor is read above the nominal level, because the kernel does not report every fall.
    static let warmInterval = Duration.seconds(10)
    /// How often the sensor is read on a cool machine, if the kernel sends no thermal notices (before 5.9, or
    /// by configuration), or if a launch is under way: not every driver of a zone reports that a trip point
    /// was crossed.
    static let coolInterval = Duration.seconds(60)

    let key = ConditionKey.thermal
    let source = "sysfs"
    /// `/sys`, or a directory with the same structure.
    private let root: String
    private let state = Mutex(State())

    private struct State {
        var level = ThermalCondition.nominal
        var isPresent = false
        var hearsKernel = false
        var isBusy = false
        /// When the sensor was last read, on CLOCK_BOOTTIME.
        var readAt: Duration?
    }

    /// Creates a sensor; tests set `hearsKernel`, so that it counts on reports of any kernel.
    init(root: String, hearsKernel: Bool = false) {
        self.root = root
        state.withLock { $0.hearsKernel = hearsKernel }
    }

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)? {
        let watch = try? KernelNotices.thermal(onNotice)
        state.withLock { $0.hearsKernel = $0.hearsKernel || watch != nil }
        return watch
    }

    func nextLook(after now: Moment) -> Duration? {
        state.withLock { state in
            if !state.isPresent { return nil }
            if state.level != .nominal { return now.boot + Self.warmInterval }
            return state.hearsKernel && !state.isBusy ? nil : now.boot + Self.coolInterval
        }
    }

    /// Sets whether a launch is under way; returns whether the sensor should be read now.
    func setBusy(_ isBusy: Bool, at now: Moment) -> Bool {
        state.withLock { state in
            state.isBusy = isBusy
            return isBusy && state.readAt.map { now.boot - $0 >= Self.coolInterval } ?? true
        }
    }

    func read(at now: Moment) -> SensorAnswer {
        state.withLock { $0.readAt = now.boot }
        do {
            let directory = "\(root)/class/thermal"
            let names = try AttributeFile.names(in: directory) ?? []
            var zones: [Zone] = []
            for name in names where name.hasPrefix("thermal_zone") {
                if let zone = Zone(try trips("\(directory)/\(name)"), try temperature("\(directory)/\(name)"))
                {
                    zones.append(zone)
                }
            }
            return state.withLock { state in
                state.isPresent = !zones.isEmpty
                if zones.isEmpty { return .absent }
                state.level =
                    zones.map { $0.level(before: state.level) }.max { $0.rank < $1.rank } ?? .nominal
                return .value(.thermal(state.level))
            }
        } catch {
            return .failed
        }
    }

    /// The temperature in thousandths of a degree Celsius; `nil` if the zone is asleep or its value is
    /// implausible.
    private func temperature(_ path: String) throws(SystemCallError) -> Int? {
        let text: String?
        do {
            text = try AttributeFile.read("\(path)/temp")
        } catch  where error.isOfSleepingDevice {
            return nil
        }
        return text.flatMap { Int($0) }.flatMap { (-40_000...200_000).contains($0) ? $0 : nil }
    }

    private func trips(_ path: String) throws(SystemCallError) -> [(type: String, temperature: Int)] {
        var found: [(String, Int)] = []
        for number in 0..<12 {
            guard let type = try AttributeFile.read("\(path)/trip_point_\(number)_type") else { break }
            guard let at = try AttributeFile.read("\(path)/trip_point_\(number)_temp").flatMap({ Int($0) }),
                at > 0
            else { continue }
            found.append((type, at))
        }
        return found
    }

    private struct Zone {
        private let temperature: Int
        /// The temperature at which each level begins, in thousandths of a degree.
        private var starts: [(level: ThermalCondition, at: Int)] = []

        init?(_ trips: [(type: String, temperature: Int)], _ temperature: Int?) {
            guard let temperature else { return nil }
            self.temperature = temperature
            for trip in trips {
                switch trip.type {
                case "active": starts.append((.fair, trip.temperature))
                case "passive": starts.append((.serious, trip.temperature))
                case "hot": starts.append((.critical, trip.temperature))
                case "critical": starts.append((.critical, trip.temperature - ThermalSensor.criticalMargin))
                default: break
                }
            }
            // The first of several fans runs on any warm day, so only the last one counts as fair.
            if let last = starts.filter({ $0.level == .fair }).map(\.at).max() {
                starts = starts.filter { $0.level != .fair || $0.at == last }
            }
            if starts.isEmpty { return nil }
        }

        func level(before: ThermalCondition) -> ThermalCondition {
            starts.filter { start in
                let margin = start.level.rank <= before.rank ? ThermalSensor.hysteresis : 0
                return temperature >= start.at - margin
            }.map(\.level).max { $0.rank < $1.rank } ?? .nominal
        }
    }
}

extension ThermalCondition {
    /// The position of the level: a hotter level has a greater rank.
    var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
