import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import SystemConditions

/// The suite that every sensor must pass, whatever its source is.
@Suite(.system, .serialized) struct SensorConformanceTests {
    /// A kind of source, with its name for reports.
    struct Candidate: CustomTestStringConvertible, Sendable {
        let driver: any SensorDriver.Type
        var testDescription: String { driver.name }
    }

    static let all: [Candidate] = [
        Candidate(driver: UPowerDriver.self), Candidate(driver: FormerProfilesDriver.self),
        Candidate(driver: CurrentProfilesDriver.self), Candidate(driver: NetworkManagerDriver.self),
        Candidate(driver: LogindDriver.self), Candidate(driver: PowerSupplyDriver.self),
        Candidate(driver: RouteDriver.self), Candidate(driver: ThermalDriver.self),
        Candidate(driver: PressureDriver.self), Candidate(driver: RenderNodeDriver.self),
        Candidate(driver: CommandDriver.self), Candidate(driver: FileDriver.self),
    ]
    static let runnable = all.filter { $0.driver.obstacle == nil }
    static let skipped = all.filter { $0.driver.obstacle != nil }

    @Test(.enabled(if: !skipped.isEmpty, "every source can be had on this machine"))
    func `sources that this machine does not have are named with their reasons`() throws {
        let reasons = Self.skipped.map { "\($0.driver.name): \($0.driver.obstacle ?? "")" }
        try #require(Bool(true), "\(reasons)")
        print("not run here: \(reasons.joined(separator: "; "))")
    }

    /// A driver with its sensors, and a clock that the test moves.
    final class Bench {
        let driver: any SensorDriver
        let moments = VirtualMoments()
        let sensor: any Sensor
        private(set) var sensors: ConditionSensors
        var value: String { sensors.snapshot().text(of: sensor.key) }
        private var told: AsyncStream<Conditions>.AsyncIterator

        /// With `isThere`, the source starts before the sensors do.
        init(_ driver: any SensorDriver.Type, isThere: Bool) throws {
            self.driver = try driver.init()
            if isThere {
                try self.driver.appear()
                try self.driver.improve()
            }
            let (sensor, bus) = try self.driver.makeSensor()
            self.sensor = sensor
            bus?.waitUntilSettled(timeoutMilliseconds: 20_000)
            sensors = Self.open(sensor, bus, moments)
            told = sensors.changes().makeAsyncIterator()
        }

        static func open(_ sensor: any Sensor, _ bus: SystemBus?, _ moments: VirtualMoments)
            -> ConditionSensors
        {
            ConditionSensors(
                mode: .system, sensors: [sensor], moments: moments, dwell: ConditionSensors.dwell, bus: bus)
        }

        /// Waits until the sensor itself has this value; listeners may not have it yet.
        func seen(_ text: String) throws {
            try waitUntil("\(driver) sees \(text)") {
                var conditions = sensors.snapshot()
                switch sensor.read(at: moments.now()) {
                case .value(let value): conditions.replace(sensor.key, with: .known(value))
                case .failed, .absent, .pending, .elsewhere: conditions.replace(sensor.key, with: .unknown)
                }
                return conditions.text(of: sensor.key) == text
            }
        }

        /// Moves the clock until the change has lasted long enough to count.
        func settle(_ text: String) throws {
            try waitUntil("\(driver) tells \(text)") {
                moments.advance(by: ConditionSensors.dwell)
                sensors.timePassed()
                return value == text
            }
        }

        /// The values that listeners receive until this one; each value once.
        func heard(until text: String) async -> [String] {
            var heard: [String] = []
            while heard.last != text, let next = await told.next() {
                let value = next.text(of: sensor.key)
                if value != heard.last { heard.append(value) }
            }
            return heard
        }
    }

    @Test(.timeLimit(.minutes(3)), arguments: runnable)
    func `a source tells its value, each change once, that it went, and its value again`(
        _ candidate: Candidate
    )
        async throws
    {
        let kind = candidate.driver
        let bench = try Bench(kind, isThere: true)
        try bench.seen(kind.better)
        try bench.settle(kind.better)
        #expect(await bench.heard(until: kind.better).last == kind.better)
        #expect(bench.sensors.rows().first { $0.key == bench.sensor.key.name }?.source == bench.sensor.source)

        // A change for the worse counts at once, so the clock does not move here.
        try bench.driver.worsen()
        #expect(await bench.heard(until: kind.worse) == [kind.worse])
        try bench.driver.improve()
        try bench.seen(kind.better)
        #expect(bench.value == kind.worse, "more counts when it has lasted")
        try bench.settle(kind.better)
        #expect(await bench.heard(until: kind.better) == [kind.better])

        try bench.driver.vanish()
        #expect(await bench.heard(until: "unknown") == ["unknown"])
        try bench.driver.appear()
        try bench.driver.improve()
        try bench.seen(kind.better)
        try bench.settle(kind.better)
        #expect(await bench.heard(until: kind.better).last == kind.better)
    }

    @Test(.timeLimit(.minutes(3)), arguments: runnable)
    func `a storm of changes is one loss and one return`(_ candidate: Candidate) async throws {
        let kind = candidate.driver
        let bench = try Bench(kind, isThere: true)
        try bench.seen(kind.better)
        try bench.settle(kind.better)
        _ = await bench.heard(until: kind.better)
        for round in 0..<(kind is PressureDriver.Type ? 2 : 4) {
            try bench.driver.worsen()
            try bench.seen(kind.worse)
            if round == 0 { #expect(await bench.heard(until: kind.worse) == [kind.worse]) }
            try bench.driver.improve()
            try bench.seen(kind.better)
            #expect(bench.value == kind.worse, "round \(round)")
        }
        try bench.settle(kind.better)
        #expect(await bench.heard(until: kind.better) == [kind.better])
    }

    @Test(.timeLimit(.minutes(3)), arguments: runnable.filter { $0.driver.canBeAbsent })
    func `a source that was never there has the value of the table, and counts once it comes`(
        _ candidate: Candidate
    ) throws {
        let kind = candidate.driver
        let bench = try Bench(kind, isThere: false)
        #expect(bench.value == kind.absent)
        try bench.driver.appear()
        try bench.driver.improve()
        try bench.seen(kind.better)
        try bench.settle(kind.better)
        try bench.driver.worsen()
        try bench.settle(kind.worse)
    }
}

/// Resources that a sensor leaves in its process. Nothing else may open descriptors or start threads
/// meanwhile.
@Suite(.alone, .serialized) struct SensorEndTests {
    @Test(.timeLimit(.minutes(3)), arguments: SensorConformanceTests.runnable)
    func `the end of a sensor ends its thread and closes its descriptors`(
        _ candidate: SensorConformanceTests.Candidate
    ) throws {
        let driver = try candidate.driver.init()
        try driver.appear()
        let moments = VirtualMoments()
        func use() throws {
            let (sensor, bus) = try driver.makeSensor()
            bus?.waitUntilSettled(timeoutMilliseconds: 20_000)
            _ = SensorConformanceTests.Bench.open(sensor, bus, moments)
        }
        func count(_ directory: String) -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: directory).count) ?? 0
        }
        // The first use creates what exists once for the whole process.
        try use()
        let (files, threads) = (count("/proc/self/fd"), count("/proc/self/task"))
        let rounds = 30
        for _ in 0..<rounds { try use() }
        // Threads end a little later. A leak of one thread in each round would exceed this limit.
        try waitUntil("the descriptors are closed") { count("/proc/self/fd") < files + rounds / 2 }
        try waitUntil("the threads have ended") { count("/proc/self/task") < threads + rounds / 2 }
    }
}
