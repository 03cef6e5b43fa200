import CLinuxShims
import Glibc
import Synchronization

/// Watches directories with inotify, on its own thread.
///
/// An event only means "look again": the receiver reads the directories again, so a queue that overflows
/// loses nothing. A directory that is replaced or created later is watched as soon as it exists.
public final class DirectoryWatch: Sendable {
    /// Events within this time of each other are reported once.
    ///
    /// Longer than a `cp` of a small file takes.
    public static let quietPeriod = Duration.milliseconds(40)
    /// A directory under constant change is still reported this often: every 8 quiet periods.
    private static let longestRun = 8
    /// How often a directory that is not there is looked for.
    private static let absentInterval = Duration.milliseconds(250)

    private let isStopped = Mutex(false)
    private let stopEvent: OwnedDescriptor

    /// Starts watching.
    ///
    /// - Parameters:
    ///   - paths: Directories; they need not exist.
    ///   - onChange: Called on the thread, once as soon as the directories are watched, and then after
    ///     changes.
    /// - Throws: `inotify_init1` or `eventfd` (the user's limit of inotify instances).
    public init(_ paths: [String], onChange: @escaping @Sendable () -> Void) throws(SystemCallError) {
        let events = try retryingOnInterrupt("inotify_init1", "") {
            inotify_init1(CInt(O_CLOEXEC | O_NONBLOCK))
        }
        do {
            stopEvent = OwnedDescriptor(taking: try retryingOnInterrupt("eventfd", "") { lx_eventfd() })
        } catch {
            _ = close(events)
            throw error
        }
        let stop = stopEvent.rawValue
        BlockingThread.start(named: "watch") {
            var loop = WatchLoop(events: OwnedDescriptor(taking: events), paths: paths)
            loop.rewatch()
            onChange()
            // The thread keeps the watch, and so its descriptors, until it is stopped.
            while loop.wait(
                orStop: stop, quiet: Self.quietPeriod, longestRun: Self.longestRun,
                absent: Self.absentInterval)
            {
                if self.isStopped.withLock({ $0 }) { return }
                onChange()
            }
        }
    }

    /// Ends the thread; a call of `onChange` that runs is not waited for.
    public func stop() {
        isStopped.withLock { $0 = true }
        _ = lx_eventfd_signal(stopEvent.rawValue)
    }
}

/// The state of the watching thread.
private struct WatchLoop: ~Copyable {
    private static let mask = UInt32(
        IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE
            | IN_DELETE_SELF
            | IN_MOVE_SELF)

    let events: OwnedDescriptor
    let paths: [String]
    private var watches: [String: CInt] = [:]

    init(events: consuming OwnedDescriptor, paths: [String]) {
        self.events = events
        self.paths = paths
    }

    /// Puts a watch on what is at the paths now; true if that is something else than before.
    @discardableResult
    mutating func rewatch() -> Bool {
        var isChanged = false
        for path in paths {
            // On the same directory the kernel answers with the same watch.
            let watch = inotify_add_watch(events.rawValue, path, Self.mask)
            let old = watches[path]
            if watch < 0 {
                watches[path] = nil
            } else {
                watches[path] = watch
            }
            guard old != watches[path] else { continue }
            isChanged = true
            if let old, !watches.values.contains(old) { _ = inotify_rm_watch(events.rawValue, old) }
        }
        return isChanged
    }

    /// Waits for a change and for the quiet period after it; false if the thread must stop.
    mutating func wait(orStop stop: CInt, quiet: Duration, longestRun: Int, absent: Duration) -> Bool {
        while true {
            let timeout =
                Set(watches.keys).isSuperset(of: paths)
                ? -1 : CInt(absent.components.attoseconds / 1_000_000_000_000_000)
            guard let isReady = poll(stop, timeout: timeout) else { return false }
            if isReady { drain() }
            if rewatch() || isReady { break }
        }
        let quietMilliseconds = CInt(quiet.components.attoseconds / 1_000_000_000_000_000)
        for _ in 0..<longestRun {
            guard let isReady = poll(stop, timeout: quietMilliseconds) else { return false }
            guard isReady else { break }
            drain()
            rewatch()
        }
        return true
    }

    /// Whether there are events; `nil` if the thread must stop.
    private func poll(_ stop: CInt, timeout: CInt) -> Bool? {
        var entries = [
            pollfd(fd: events.rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
        ]
        _ = Glibc.poll(&entries, 2, timeout)
        return entries[1].revents != 0 ? nil : entries[0].revents != 0
    }

    /// Empties the queue; what happened does not matter, an overflow included.
    private func drain() {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while read(events.rawValue, &buffer, buffer.count) > 0 {}
    }
}
