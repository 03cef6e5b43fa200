import CLinuxShims
import Glibc
import Synchronization

/// Watches directories with inotify, on its own thread.
///
/// An event only means that something may have changed: the receiver then reads the directories again. So no
/// change is lost when the kernel's queue overflows. A directory that is replaced or created later is watched
/// as soon as it exists.
public final class DirectoryWatch: Sendable {
    /// Events are reported together if each follows the previous one within this time.
    ///
    /// It is longer than `cp` takes to copy a small file.
    public static let quietPeriod = Duration.milliseconds(40)
    /// The largest number of quiet periods in one report, for a directory that changes continuously.
    private static let longestRun = 8
    /// How often a directory that does not exist is looked for.
    private static let absentInterval = Duration.milliseconds(250)

    private let isStopped = Mutex(false)
    private let events: OwnedDescriptor
    private let stopEvent: OwnedDescriptor
    private let notice = Mutex(Notice())

    /// The state that the thread shares with other threads.
    private struct Notice {
        /// The number of changes; the thread increases it before it takes events out of the kernel's queue.
        var changes = 0
        /// Whether all directories are watched; changes in other directories would not be noticed.
        var isComplete = false
    }

    /// The number of changes of the directories since the watch began; any thread may read it.
    ///
    /// If the number has not changed between two reads, the directories have not changed either, because the
    /// kernel reports a change before the call that makes it returns.
    ///
    /// - Returns: `nil` if the thread has not yet seen all events, or if a directory is not watched.
    public var settledChangeCount: Int? {
        var entry = pollfd(fd: events.rawValue, events: Int16(POLLIN), revents: 0)
        // The queue is read before the number, because the thread increases the number before it empties the
        // queue.
        guard poll(&entry, 1, 0) == 0 else { return nil }
        return notice.withLock { $0.isComplete ? $0.changes : nil }
    }

    /// Starts watching.
    ///
    /// - Parameters:
    ///   - paths: The directories, which need not exist.
    ///   - onChange: Called on the thread: once when the directories are first watched, and then after
    ///     changes.
    /// - Throws: The `inotify_init1` or `eventfd` that failed, for example because of the user's limit of
    ///   inotify instances.
    public init(_ paths: [String], onChange: @escaping @Sendable () -> Void) throws(SystemCallError) {
        events = OwnedDescriptor(
            taking: try retryingOnInterrupt("inotify_init1", "") {
                inotify_init1(CInt(O_CLOEXEC | O_NONBLOCK))
            })
        stopEvent = OwnedDescriptor(taking: try retryingOnInterrupt("eventfd", "") { lx_eventfd() })
        let (queue, stop) = (events.rawValue, stopEvent.rawValue)
        BlockingThread.start(named: "watch") {
            var loop = WatchLoop(events: queue, paths: paths) { isComplete in
                self.notice.withLock {
                    $0.changes += 1
                    $0.isComplete = isComplete
                }
            }
            loop.rewatch()
            onChange()
            // The thread retains this object, with its descriptors, until it is stopped.
            while loop.wait(
                orStop: stop, quiet: Self.quietPeriod, longestRun: Self.longestRun,
                absent: Self.absentInterval)
            {
                if self.isStopped.withLock({ $0 }) { return }
                onChange()
            }
        }
    }

    /// Ends the thread, without waiting for a running call of `onChange`.
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

    let events: CInt
    let paths: [String]
    /// Called before events are taken and after the watches have changed, with whether all paths are watched.
    let onNotice: (_ isComplete: Bool) -> Void
    private var watches: [String: CInt] = [:]

    init(events: CInt, paths: [String], onNotice: @escaping (_ isComplete: Bool) -> Void) {
        self.events = events
        self.paths = paths
        self.onNotice = onNotice
    }

    private var isComplete: Bool { paths.allSatisfy { watches[$0] != nil } }

    /// Watches the directories that are at the paths now; returns whether any of them is a different one than
    /// before.
    @discardableResult
    mutating func rewatch() -> Bool {
        var isChanged = false
        for path in paths {
            // For a directory that is already watched, the kernel returns the same watch.
            let watch = inotify_add_watch(events, path, Self.mask)
            let old = watches[path]
            if watch < 0 {
                watches[path] = nil
            } else {
                watches[path] = watch
            }
            guard old != watches[path] else { continue }
            isChanged = true
            if let old, !watches.values.contains(old) { _ = inotify_rm_watch(events, old) }
        }
        if isChanged { onNotice(isComplete) }
        return isChanged
    }

    /// Waits for a change, and then until the directories are quiet; returns false if the thread must stop.
    mutating func wait(orStop stop: CInt, quiet: Duration, longestRun: Int, absent: Duration) -> Bool {
        while true {
            let timeout =
                isComplete
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
            pollfd(fd: events, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
        ]
        _ = Glibc.poll(&entries, 2, timeout)
        return entries[1].revents != 0 ? nil : entries[0].revents != 0
    }

    /// Empties the event queue; the contents of the events do not matter.
    private func drain() {
        onNotice(isComplete)
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while read(events, &buffer, buffer.count) > 0 {}
    }
}
