import CLinuxShims
import Glibc
import Synchronization
import TaskModel

/// Reports changes of files or directories with inotify: any number of paths on one thread.
///
/// A file changes when it is written, replaced, created or removed. A directory changes when an entry
/// directly inside it does. Reading a file is not a change. For a path that does not exist, the nearest
/// existing parent is watched.
public final class PathWatch: Sendable {
    /// An event that the watch reports.
    public enum Event: Sendable {
        /// These paths changed, and then there was no change for ``PathWatch/quietPeriod``, or
        /// ``PathWatch/longestWait`` has passed.
        case changed(Set<String>)
        /// The kernel refuses to watch a path, because all watches that it permits are in use, or because of
        /// missing permissions.
        ///
        /// This is reported once, and again only after the path could be watched in the meantime.
        case unwatchable(String, SystemCallError)
    }

    /// Changes are reported together if each follows the previous one within this time: 0.2 s.
    ///
    /// Our choice: a program that writes a file in several steps is reported once.
    public static let quietPeriod = Duration.milliseconds(200)
    /// The longest time until a report, for paths that change continuously: 2 s, our choice.
    public static let longestWait = Duration.seconds(2)

    private struct Wish {
        var paths: Set<String> = []
        var isStopped = false
    }

    private let wish = Mutex(Wish())
    private let wake: OwnedDescriptor

    /// Starts the thread; it watches nothing yet.
    ///
    /// - Parameters:
    ///   - tellsStart: Whether a path counts as changed when the watch begins, because the caller may have
    ///     read it before that.
    ///   - onEvent: Called on the thread.
    /// - Throws: The `inotify_init1` or `eventfd` that failed.
    public init(
        tellsStart: Bool = false, onEvent: @escaping @Sendable (Event) -> Void
    ) throws(SystemCallError) {
        let events = OwnedDescriptor(
            taking: try retryingOnInterrupt("inotify_init1", "") {
                inotify_init1(CInt(O_CLOEXEC | O_NONBLOCK))
            })
        wake = OwnedDescriptor(taking: try retryingOnInterrupt("eventfd", "path watch") { lx_eventfd() })
        let (eventsDescriptor, wakeDescriptor) = (events.release(), wake.rawValue)
        BlockingThread.start(named: "path-watch") {
            var loop = PathWatchLoop(
                events: OwnedDescriptor(taking: eventsDescriptor), wake: wakeDescriptor,
                tellsStart: tellsStart, onEvent: onEvent)
            // The closure retains this object, with its descriptor, until the watch is stopped.
            loop.run {
                self.wish.withLock { $0.isStopped ? nil : $0.paths }
            }
        }
    }

    /// Replaces the watched paths, which must be absolute; paths that are already watched stay watched
    /// without a gap.
    public func watch(_ paths: Set<String>) {
        wish.withLock { $0.paths = paths }
        _ = lx_eventfd_signal(wake.rawValue)
    }

    /// Ends the thread, without waiting for a running call of `onEvent`.
    public func stop() {
        wish.withLock { $0.isStopped = true }
        _ = lx_eventfd_signal(wake.rawValue)
    }
}

/// The state of the watching thread.
private struct PathWatchLoop: ~Copyable {
    private static let changes = UInt32(
        IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF
            | IN_MOVE_SELF)
    /// The events of a parent directory that matter: its entries appear and disappear.
    private static let entries = UInt32(
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)

    private struct Watched {
        var signature: FileSignature?
        /// The watch on the path itself; `nil` if the path does not exist.
        var direct: CInt?
        /// The watch on the directory that contains the path, or on its nearest ancestor that exists.
        var parent: CInt?
        var isUnwatchable = false
    }

    let events: OwnedDescriptor
    let wake: CInt
    let tellsStart: Bool
    let onEvent: @Sendable (PathWatch.Event) -> Void
    private var watched: [String: Watched] = [:]
    private var changed: Set<String> = []

    init(
        events: consuming OwnedDescriptor, wake: CInt, tellsStart: Bool,
        onEvent: @escaping @Sendable (PathWatch.Event) -> Void
    ) {
        self.events = events
        self.wake = wake
        self.tellsStart = tellsStart
        self.onEvent = onEvent
    }

    /// Runs until `paths` returns `nil`.
    mutating func run(_ paths: () -> Set<String>?) {
        let quiet = CInt(PathWatch.quietPeriod / .milliseconds(1))
        var firstChange: Duration?
        while true {
            var polled = [
                pollfd(fd: events.rawValue, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&polled, 2, changed.isEmpty ? -1 : quiet)
            if polled[1].revents != 0 {
                var count: UInt64 = 0
                _ = read(wake, &count, MemoryLayout<UInt64>.size)
                guard let paths = paths() else { return }
                replace(by: paths)
            }
            if polled[0].revents != 0 { look(after: drain()) }
            guard !changed.isEmpty else {
                firstChange = nil
                continue
            }
            let now = SystemClocks().now().monotonic
            let first = firstChange ?? now
            firstChange = first
            let isQuiet = polled[0].revents == 0 && polled[1].revents == 0
            if isQuiet || now - first >= PathWatch.longestWait {
                onEvent(.changed(changed))
                changed = []
            }
        }
    }

    private mutating func replace(by paths: Set<String>) {
        watched = watched.filter { paths.contains($0.key) }
        changed.formIntersection(paths)
        let new = paths.filter { watched[$0] == nil }
        for path in new { watched[path] = Watched() }
        rewatch()
        for path in new { watched[path]?.signature = FileSignature(of: path) }
        if tellsStart { changed.formUnion(new) }
    }

    /// Finds the paths that have changed, and updates the watches.
    private mutating func look(after seen: Set<CInt>?) {
        for (path, entry) in watched {
            // If the queue overflowed, events were lost, so every directory may have changed.
            if let direct = entry.direct, seen?.contains(direct) ?? true { changed.insert(path) }
        }
        rewatch()
        for path in Array(watched.keys) {
            let signature = FileSignature(of: path)
            if signature != watched[path]?.signature { changed.insert(path) }
            watched[path]?.signature = signature
        }
    }

    private mutating func rewatch() {
        var before: Set<CInt> = []
        for entry in watched.values { before.formUnion([entry.direct, entry.parent].compactMap(\.self)) }
        for path in Array(watched.keys) { rewatch(path) }
        var after: Set<CInt> = []
        for entry in watched.values { after.formUnion([entry.direct, entry.parent].compactMap(\.self)) }
        for watch in before.subtracting(after) { _ = inotify_rm_watch(events.rawValue, watch) }
    }

    private mutating func rewatch(_ path: String) {
        guard var entry = watched[path] else { return }
        defer { watched[path] = entry }
        var refusal: SystemCallError?
        // The second attempt watches a path that appears while its parent is being looked up.
        for _ in 0..<2 {
            entry.direct = add(path, Self.changes, &refusal)
            var parent = path
            repeat {
                parent = parent.lastIndex(of: "/").map { String(parent[..<$0]) } ?? ""
                entry.parent = add(parent.isEmpty ? "/" : parent, Self.entries | UInt32(IN_ONLYDIR), &refusal)
            } while entry.parent == nil && !parent.isEmpty
            if entry.direct != nil { break }
        }
        if let refusal, entry.direct == nil {
            if !entry.isUnwatchable { onEvent(.unwatchable(path, refusal)) }
            entry.isUnwatchable = true
        } else {
            entry.isUnwatchable = false
        }
    }

    /// Adds a watch on a path.
    ///
    /// For a file that is already watched, the kernel returns the same watch and adds the events.
    private func add(_ path: String, _ mask: UInt32, _ refusal: inout SystemCallError?) -> CInt? {
        do {
            return try retryingOnInterrupt("inotify_add_watch", path) {
                inotify_add_watch(events.rawValue, path, mask | UInt32(bitPattern: CInt(IN_MASK_ADD)))
            }
        } catch {
            if error.code != ENOENT && error.code != ENOTDIR { refusal = error }
            return nil
        }
    }

    /// Empties the queue; returns the watches that had events, or `nil` if the queue had overflowed.
    private func drain() -> Set<CInt>? {
        var seen: Set<CInt> = []
        var hasOverflowed = false
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 8)
        defer { buffer.deallocate() }
        while true {
            let count = read(events.rawValue, buffer.baseAddress, buffer.count)
            guard count > 0 else { return hasOverflowed ? nil : seen }
            var offset = 0
            while offset + MemoryLayout<inotify_event>.size <= count {
                let event = buffer.load(fromByteOffset: offset, as: inotify_event.self)
                if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { hasOverflowed = true }
                // IN_IGNORED reports the end of a watch, not a change of the file.
                if event.mask & UInt32(IN_IGNORED) == 0 { seen.insert(event.wd) }
                offset += MemoryLayout<inotify_event>.size + Int(event.len)
            }
        }
    }
}

/// Attributes that distinguish states of a file without reading it.
private struct FileSignature: Equatable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Reads the attributes of a path; `nil` if the path does not exist.
    init?(of path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        device = UInt64(facts.st_dev)
        inode = UInt64(facts.st_ino)
        size = Int64(facts.st_size)
        seconds = facts.st_mtim.tv_sec
        nanoseconds = facts.st_mtim.tv_nsec
    }
}
