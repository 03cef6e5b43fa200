import LinuxSystem
import Synchronization
import TaskModel

/// The free space on the file system of the data directories, from `statvfs`.
///
/// The kernel reports no changes of it, so the sensor is read once a minute. This wakes the processor, so it
/// happens only while a manifest needs the value; a read takes some 2 us. The value is rounded down to 8
/// significant bits, so that it is at most 0.8 % too low, and so that a log file that grows does not change
/// the conditions with each read.
final class StorageSensor: Sensor {
    /// The time between two reads, while the value is needed: 60 s, our choice.
    static let interval = Duration.seconds(60)

    let key = ConditionKey.storage
    let source = "statvfs"
    private let path: String
    private let isNeeded = Mutex(false)

    /// Creates a sensor for the file system of a directory that exists.
    init(path: String) { self.path = path }

    /// Whether a manifest needs the value.
    func setNeeded(_ isNeeded: Bool) { self.isNeeded.withLock { $0 = isNeeded } }

    func nextLook(after now: Moment) -> Duration? {
        isNeeded.withLock { $0 } ? now.boot + Self.interval : nil
    }

    func read(at now: Moment) -> SensorAnswer {
        do {
            return .value(.storage(Self.rounded(try freeSpace(at: path))))
        } catch {
            return .failed
        }
    }

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)? { nil }

    /// A size without all but its 8 highest bits.
    static func rounded(_ size: ByteCount) -> ByteCount {
        let shift = max(0, Int64.bitWidth - size.bytes.leadingZeroBitCount - 8)
        return ByteCount(bytes: (size.bytes >> Int64(shift)) << Int64(shift))
    }
}
