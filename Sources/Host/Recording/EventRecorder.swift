import ControlWire
public import LinuxSystem
public import Scheduling
import Synchronization
public import TaskModel

/// Writes the scheduler's events to a log of limited size, without blocking the senders of the events.
///
/// A log is a directory of files, and the oldest files are removed. A segment is one file, or several that
/// continue each other, and can be replayed alone. A new segment begins when the host starts. It also begins
/// when the present one has enough events, as soon as the scheduler can give a
/// ``Scheduling/Scheduler/recap()``: the events that bring a new scheduler to the same state. Enough is a
/// quarter of the log, or four times as much as the segment's own recap if that is more, but at most half of
/// the log. So the recaps of many pending requests do not fill the log.
///
/// Every line has the number of its event and a checksum, see ``LineSeal``. Lines are not synced: if the
/// machine fails, the newest ones can be lost, which affects only replays. All methods may be called on any
/// thread.
public final class EventRecorder: Sendable {
    /// The shortest time between the beginnings of two segments.
    ///
    /// While a disk is full, the recorder therefore tries again and reports the problem at most once a
    /// minute.
    private static let shortest = Duration.seconds(60)
    /// The assumed size of a pending request's line, in bytes.
    ///
    /// A line without a payload has about 550. That still fits, because such lines are planned for only three
    /// quarters of the log.
    private static let requestSize: Int64 = 512

    private enum Order: Sendable {
        case begin(Moment, isContinued: Bool, first: Int64)
        case entry(RecordedEntry, number: Int64)
        /// Events of the same moment, which wait as one order however many they are, with the keys of
        /// payloads to keep. The keys are those at the time of the record: manifests can change before the
        /// write.
        case events([SchedulerEvent], Moment, first: Int64, keys: Set<String>)
        /// The pending requests at the start of the host, each as the event `submitted`.
        case pending([TaskRequest], Moment, first: Int64, keys: Set<String>)
    }

    private struct State: Sendable {
        /// Whether events are recorded: a segment has begun and has no gap.
        var isRecording = false
        /// Whether the present segment has enough events or has failed, so that a new one should begin.
        var wantsSegment = false
        /// When the newest segment began, on CLOCK_BOOTTIME.
        var began = Duration.zero
        /// The number of the newest event, whether it was recorded or not.
        var last: Int64 = 0
        /// The greatest number of pending requests with which a segment is begun, because more do not fit.
        var mostPending: Int
    }

    private let directory: String
    private let limit: Int64
    private let onProblem: @Sendable (String) -> Void
    private let state: Mutex<State>
    /// The keys of payloads that expressions of the present manifests read.
    private let payloadKeys = Mutex<Set<String>>([])
    private let orders: AsyncStream<Order>
    private let sender: AsyncStream<Order>.Continuation

    /// Creates a recorder; it writes nothing before ``begin(at:isContinued:)`` and ``run()``.
    ///
    /// - Parameters:
    ///   - directory: The directory of the log; created if it does not exist.
    ///   - limit: The approximate size of all segments together; at least 1 MiB.
    ///   - capacity: How many orders can wait to be written; if there are more, the present segment ends.
    ///   - onProblem: Called on any thread with a sentence if lines can't be written. Recording continues
    ///     with the next segment.
    /// - Throws: The system call's error if the directory can't be created.
    public init(
        directory: String, limit: ByteCount, capacity: Int = 65_536,
        onProblem: @escaping @Sendable (String) -> Void
    ) throws(SystemCallError) {
        try DirectoryTree.make(directory)
        self.directory = directory
        self.limit = max(1 << 20, limit.bytes)
        state = Mutex(State(mostPending: Int(self.limit / 4 * 3 / Self.requestSize)))
        self.onProblem = onProblem
        let stream = AsyncStream.makeStream(of: Order.self, bufferingPolicy: .bufferingOldest(capacity))
        orders = stream.stream
        sender = stream.continuation
    }

    /// Whether the caller should begin a new segment now, if the scheduler can give a recap.
    ///
    /// - Parameters:
    ///   - now: The present time.
    ///   - pending: The number of pending requests, which are a part of the recap. If they are too many for
    ///     the log, the answer is no.
    /// - Returns: Whether to call ``begin(at:isContinued:)``.
    public func wantsSegment(at now: Moment, pending: Int = 0) -> Bool {
        state.withLock {
            $0.wantsSegment && now.boot - $0.began >= Self.shortest && pending <= $0.mostPending
        }
    }

    /// Begins a segment; all later events are written to it.
    ///
    /// - Parameters:
    ///   - now: The time of the segment's first event.
    ///   - isContinued: Whether the same run of the host recorded the segment before; false for the first
    ///     segment after a start.
    public func begin(at now: Moment, isContinued: Bool) {
        let last = state.withLock { state in
            state = State(
                isRecording: true, began: now.boot, last: state.last, mostPending: state.mostPending)
            return state.last
        }
        send(.begin(now, isContinued: isContinued, first: last + 1))
    }

    /// Records an event without the data that users gave their tasks, except what decisions depend on.
    public func record(_ event: SchedulerEvent, at now: Moment) {
        noteManifests(in: [event])
        let keys = payloadKeys.withLock { $0 }
        record(RecordedEntry(at: now, .event(event.withoutPayloads(except: keys))))
    }

    /// Notes which keys of payloads the expressions of the newest manifests read.
    private func noteManifests(in events: [SchedulerEvent]) {
        for case .handlersChanged(let manifests) in events {
            var keys: Set<String> = []
            for task in manifests.lazy.flatMap(\.tasks) {
                if let when = task.constraints?.when { keys.formUnion(when.payloadKeys) }
            }
            payloadKeys.withLock { $0 = keys }
        }
    }

    /// Records a line.
    public func record(_ entry: RecordedEntry) {
        // Events that are not recorded are counted, too, so that a reader notices how many are missing.
        let (isRecording, number) = state.withLock { state in
            state.last += 1
            return (state.isRecording, state.last)
        }
        if isRecording { send(.entry(entry, number: number)) }
    }

    /// Records events of one moment, such as a recap, without the data that users gave their tasks.
    ///
    /// The queue has room for any number of them.
    public func record(_ events: [SchedulerEvent], at now: Moment) {
        noteManifests(in: events)
        let (isRecording, first) = take(events.count)
        if isRecording { send(.events(events, now, first: first, keys: payloadKeys.withLock { $0 })) }
    }

    /// Records the pending requests at the start of the host, each as the event `submitted`.
    ///
    /// If they are too many for the log, nothing is recorded until fewer wait.
    public func record(pending requests: [TaskRequest], at now: Moment) {
        let (isRecording, first) = take(requests.count)
        guard isRecording else { return }
        guard requests.count <= state.withLock({ $0.mostPending }) else {
            return giveUp(tooMany(requests.count), until: "fewer requests are pending")
        }
        send(.pending(requests, now, first: first, keys: payloadKeys.withLock { $0 }))
    }

    /// Counts events, and returns whether they are recorded, and the number of the first one.
    private func take(_ count: Int) -> (isRecording: Bool, first: Int64) {
        state.withLock { state in
            state.last += Int64(count)
            return (state.isRecording, state.last - Int64(count) + 1)
        }
    }

    private func tooMany(_ count: Int) -> String {
        "\(count) requests are pending, which is too much for a recording of \(limit >> 20) MiB. "
            + "To record them, set recording.size to a greater value"
    }

    private func send(_ order: Order) {
        if case .dropped = sender.yield(order) {
            giveUp("events arrive faster than they can be written")
        }
    }

    private func giveUp(_ cause: String, until end: String = "the host is idle") {
        let isNews = state.withLock { state -> Bool in
            let wasRecording = state.isRecording
            state.isRecording = false
            state.wantsSegment = true
            return wasRecording
        }
        if isNews { onProblem("recording pauses until \(end): \(cause)") }
    }

    /// Writes the lines to files; returns after ``finish()``, when all lines have been written.
    public func run() async {
        var writer = SegmentWriter(directory: directory, limit: limit)
        for await order in orders {
            do {
                switch order {
                case .begin(let now, let isContinued, let first):
                    try writer.begin(at: now, isContinued: isContinued, first: first)
                case .entry(let entry, let number): try writer.append(entry, number: number)
                case .events(let events, let now, let first, let keys):
                    for (event, number) in zip(events, first...) where writer.isOpen {
                        let entry = RecordedEntry(at: now, .event(event.withoutPayloads(except: keys)))
                        try writer.append(entry, number: number)
                    }
                case .pending(let requests, let now, let first, let keys):
                    for (request, number) in zip(requests, first...) where writer.isOpen {
                        let event = SchedulerEvent.submitted(request).withoutPayloads(except: keys)
                        try writer.append(RecordedEntry(at: now, .event(event)), number: number)
                    }
                }
                if writer.hasEnough { state.withLock { $0.wantsSegment = true } }
            } catch {
                if writer.isBeginning, Self.isTooMuch(error) { state.withLock { $0.mostPending /= 2 } }
                writer.close()
                giveUp("\(error)")
            }
        }
    }

    /// Whether an error at the beginning of a segment means that the same beginning would not fit the next
    /// time, either.
    ///
    /// A failed system call, such as a write to a full disk, says nothing about the number of requests.
    static func isTooMuch(_ error: any Error) -> Bool { error is RecordingError }

    /// Ends the recording, so that ``run()`` returns.
    public func finish() {
        state.withLock { $0 = State(last: $0.last, mostPending: $0.mostPending) }
        sender.finish()
    }
}

/// Writes the files of the present segment, and removes old files so that the log stays within its limit.
private struct SegmentWriter {
    private let directory: String
    private let limit: Int64
    private var file: AppendedFile?
    /// The size of the earlier files of the segment.
    private var earlier: Int64 = 0
    /// The size of the recap at the beginning of the segment; 0 before its end.
    private var recap: Int64 = 0
    private var json = JSONWriter()

    init(directory: String, limit: Int64) {
        self.directory = directory
        self.limit = limit
    }

    /// The size of a file: a sixteenth of the log, so that removing one removes only a small part of the log.
    private var fileLimit: Int64 { limit / 16 }
    /// The size of the segment.
    private var size: Int64 { earlier + (file?.size ?? 0) }

    /// Whether lines are written; not after ``close()``.
    var isOpen: Bool { file != nil }
    /// Whether lines are written that bring a new scheduler to the present state.
    var isBeginning: Bool { isOpen && recap == 0 }

    /// Whether a new segment should begin.
    var hasEnough: Bool { size >= max(limit / 4, min(recap * 4, limit / 2)) }

    mutating func begin(at now: Moment, isContinued: Bool, first: Int64) throws {
        (earlier, recap) = (0, 0)
        try open(at: now, RecordedSegment.Header(isContinued: isContinued, first: first))
    }

    private mutating func open(at now: Moment, _ header: RecordedSegment.Header) throws {
        file = nil
        try removeOldest()
        let path = freePath(from: now.wall)
        file = try AppendedFile(creating: path)
        do {
            try write(header, number: nil)
        } catch {
            // A file without a whole header can't be read.
            file = nil
            try? DirectoryTree.remove(path)
            throw error
        }
    }

    /// A path that does not exist yet; files that begin in the same millisecond get different names.
    private func freePath(from start: WallTime) -> String {
        var time = start
        while SmallFile.exists(RecordedLog.path(in: directory, startingAt: time)) {
            time = time + .milliseconds(1)
        }
        return RecordedLog.path(in: directory, startingAt: time)
    }

    mutating func append(_ entry: RecordedEntry, number: Int64) throws {
        guard file != nil else { return }
        if (file?.size ?? 0) >= fileLimit {
            earlier = size
            guard earlier < limit / 4 * 3 else {
                // The host was busy all this time, so the scheduler could give no recap. A gap in the
                // recording is better than a segment whose beginning is removed.
                throw RecordingError(
                    subject: directory,
                    finding: "the newest segment has three quarters of 'recording.size', so recording pauses",
                    remedy: "No action is needed: recording continues as soon as no launch is running")
            }
            try open(
                at: entry.at,
                RecordedSegment.Header(isContinued: true, hasRecap: false, first: number))
        }
        try write(entry, number: number)
        if entry.event == .started { recap = size }
    }

    mutating func close() { file = nil }

    private mutating func write(_ line: some Encodable, number: Int64?) throws {
        try file?.append(LineSeal.close(try json.bytes(of: line), number: number))
    }

    /// Removes the oldest files until there is room for one more.
    private func removeOldest() throws {
        let files = try RecordedLog.files(in: directory)
        var sum: Int64 = 0
        for file in files.reversed() {
            sum += try FileIdentity(of: file).size
            if sum > limit - fileLimit { try DirectoryTree.remove(file) }
        }
    }
}
