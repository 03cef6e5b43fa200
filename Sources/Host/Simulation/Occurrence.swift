import HostCore
import TaskModel

/// Something that happens in the world of a virtual host.
enum Occurrence: Sendable {
    /// The host hears this: conditions, a reading of its files, a stop.
    case input(HostInput)
    /// A client or a user asks this of the host; what it refuses is counted.
    case call(HostCall)
    /// A user cancels what is pending, and not what runs.
    case withdraw(TaskIdentifier)
    /// A user launches what is pending, whatever the policies say.
    case simulate(TaskIdentifier)
    /// A user stops what runs.
    case stop(TaskIdentifier, Reason)
    /// Local time is this much ahead of UTC from now on.
    case localTime(offset: Duration)
    /// The machine wants to sleep until an instant on CLOCK_BOOTTIME, or until a schedule wakes it.
    ///
    /// It sleeps when the host lets it, or after ``VirtualHost/sleepDelay``, and not before the other
    /// instant.
    case sleep(until: Duration, notBefore: Duration)
    /// The machine falls asleep, unless it has since.
    case fallAsleep(until: Duration)
    /// The clocks read this, whatever they read before.
    case clocks(Moment)
}
