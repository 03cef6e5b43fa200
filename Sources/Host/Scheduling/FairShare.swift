import Glibc
import TaskModel

extension ServiceAccount {
    /// The time after which service counts half: one day.
    ///
    /// Ours: a bundle that was busy yesterday must not wait today for one that is busy now.
    static let halfLife = 86_400.0
    /// The service of a launch, besides its CPU time: 10 s.
    ///
    /// Ours: a launch occupies a slot and wakes the machine even if it uses no CPU time. A typical refresh
    /// runs for some seconds.
    static let secondsPerLaunch = 10.0

    /// Adds a launch that ended.
    mutating func add(cpu: Duration, at time: WallTime) {
        // If the clock was set back, older service does not grow.
        let time = at.map { max($0, time) } ?? time
        let age = at.map { (time - $0).inSeconds } ?? 0
        seconds = seconds * exp2(-age / Self.halfLife) + Self.secondsPerLaunch + max(0, cpu.inSeconds)
        at = time
    }

    /// A number by which bundles are ordered: the bundle with the least had the least service.
    ///
    /// Service fades at the same rate for all bundles, so their order changes only when a launch ends. The
    /// number is the logarithm of the service, plus the time in half-lives, and never falls when service is
    /// added.
    var rank: Double {
        guard seconds > 0, let at else { return -.infinity }
        return log2(seconds) + at.sinceEpoch.inSeconds / Self.halfLife
    }
}
