import Launching
import TaskModel

extension LaunchRecord {
    /// The record with a newer measurement of its processes, unless the launch has ended.
    func measured(_ usage: LaunchUsage?) -> LaunchRecord {
        guard state != .ended, let usage else { return self }
        var record = self
        record.cpuTime = usage.cpuTime
        record.cpuIsLowerBound = usage.cpuIsLowerBound
        record.peakMemory = usage.peakMemory
        record.network = usage.network
        return record
    }
}
