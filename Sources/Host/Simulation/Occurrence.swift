import HostCore
import TaskModel

/// An event in the world of a virtual host.
enum Occurrence: Sendable {
    /// The host receives this input: conditions, manifests, settings, changed files, or the order to stop.
    case input(HostInput)
    /// A client or a user calls the host; refused submissions are counted.
    case call(HostCall)
    /// A user cancels the pending request of an identifier; a running launch continues.
    case withdraw(TaskIdentifier)
    /// A user launches the pending request of an identifier, whatever the policies say.
    case simulate(TaskIdentifier)
    /// A user stops the launches of an identifier.
    case stop(TaskIdentifier, Reason)
    /// The offset of local time from UTC changes to this value.
    case localTime(offset: Duration)
    /// The machine wants to sleep until `until` on CLOCK_BOOTTIME, or until a schedule wakes it.
    ///
    /// It falls asleep when the host permits it, or after ``VirtualHost/sleepDelay``, but not before
    /// `notBefore`.
    case sleep(until: Duration, notBefore: Duration)
    /// The machine falls asleep, unless the sleep with this end has already begun or was replaced.
    case fallAsleep(until: Duration)
    /// The clocks jump to this moment.
    case clocks(Moment)
}
