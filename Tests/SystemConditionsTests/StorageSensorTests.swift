import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import SystemConditions

/// The free space of a file system.
@Suite struct StorageSensorTests {
    @Test func `it is read once a minute only while it is needed`() throws {
        let sensor = StorageSensor(path: "/")
        let now = VirtualMoments().now()
        #expect(sensor.nextLook(after: now) == nil)
        sensor.setNeeded(true)
        #expect(sensor.nextLook(after: now) == now.boot + .seconds(60))
        let answer = sensor.read(at: now)
        if case .value(.storage(let free)) = answer {
            #expect(free > ByteCount(bytes: 0))
        } else {
            Issue.record("\(answer)")
        }
        #expect(StorageSensor(path: "/does/not/exist").read(at: now) == .failed)
    }

    @Test func `the value is rounded down by less than a hundredth, and sizes that people write are exact`() {
        for bytes in [0, 1, 255, 256, 257, 1 << 31, 3 << 30, 1_000_003, 123_456_789_012, Int64.max] {
            let rounded = StorageSensor.rounded(ByteCount(bytes: bytes)).bytes
            #expect(rounded <= bytes && Double(bytes - rounded) <= Double(bytes) * 0.0079)
        }
        for size in [ByteCount.gibibytes(2), .gibibytes(100), .mebibytes(200), .mebibytes(255)] {
            #expect(StorageSensor.rounded(size) == size)
        }
    }

    @Test func `it can be set by hand, and read from a real file system`() throws {
        let sensor = StorageSensor(path: "/")
        let sensors = ConditionSensors(
            mode: .system, sensors: [sensor], moments: VirtualMoments(), storage: sensor)
        #expect(sensors.snapshot().storage.value != nil)
        try sensors.set(["storage=1536MiB"])
        #expect(sensors.snapshot().storage == .known(.mebibytes(1536)))
        #expect(sensors.rows().first { $0.key == "storage" }?.value == "1536MiB")
        #expect(throws: ConditionSettingError.self) { try sensors.set(["storage=2GB"]) }
        sensors.clear()
        #expect(sensors.snapshot().storage != .known(.mebibytes(1536)))
    }
}
