import ControlWire
public import LinuxSystem
public import Scheduling
import Synchronization
public import TaskModel

/// Writes the scheduler's events to a log of limited size, without blocking the senders of the events.
///
/// A log is a directory of segments. A new segment begins when the host starts, and when one is full and the
/// scheduler can give a ``Scheduling/Scheduler/recap()``; the oldest segments are removed. Lines are not
/// synced: if the machine fails, the newest lines can be lost, which only affects replays. All methods may be
/// called on any thread.
public final class EventRecorder: Sendable {
    /// The least duration of a segment, so that a disk that stays full is tried and complained of once a
    /// minute.
    private static let shortest = Duration.seconds(60)
    /// Lines that wait to be written at most; beyond them the segment is given up.
    private static let capacity = 65_536

    private enum Order: Sendable {
        case begin(Moment, isContinued: Bool)
        case entry(RecordedEntry)
    }

    private struct State: Sendable {
        /// Lines are taken: a segment has begun and is whole so far.
        var isRecording = false
        /// The segment is full or broken: the next one begins with a recap.
        var wantsSegment = false
        /// When the newest segment began, on CLOCK_BOOTTIME.
        var began = Duration.zero
    }

    private let directory: String
    private let limit: Int64
    private let onProblem: @Sendable (String) -> Void
    private let state = Mutex(State())
    private let orders: AsyncStream<Order>
    private let sender: AsyncStream<Order>.Continuation

    /// Makes a recorder; nothing is written before ``begin(at:isContinued:)`` and ``run()``.
    ///
    /// - Parameters:
    ///   - directory: The log's directory, made if it is missing.
    ///   - limit: Bytes of all segments together, kept about; at least 1 MiB.
    ///   - onProblem: Called with a sentence when lines can't be written; recording goes on with the next
    ///     segment.
    /// - Throws: The directory could not be made.
    public init(
        directory: String, limit: ByteCount, onProblem: @escaping @Sendable (String) -> Void
    ) throws(SystemCallError) {
        try DirectoryTree.make(directory)
        self.directory = directory
        self.limit = max(1 << 20, limit.bytes)
        self.onProblem = onProblem
        let stream = AsyncStream.makeStream(of: Order.self, bufferingPolicy: .bufferingOldest(Self.capacity))
        orders = stream.stream
        sender = stream.continuation
    }

    /// Whether a new segment is to begin now, if there is a recap.
    public func wantsSegment(at now: Moment) -> Bool {
        state.withLock { $0.wantsSegment && now.boot - $0.began >= Self.shortest }
    }

    /// Begins a segment, which takes all events from here on.
    public func begin(at now: Moment, isContinued: Bool) {
        state.withLock { $0 = State(isRecording: true, began: now.boot) }
        send(.begin(now, isContinued: isContinued))
    }

    /// Records an event, without its payloads.
    public func record(_ event: SchedulerEvent, at now: Moment) {
        record(RecordedEntry(at: now, .event(event.withoutPayloads)))
    }

    /// Records a line.
    public func record(_ entry: RecordedEntry) {
        guard state.withLock({ $0.isRecording }) else { return }
        send(.entry(entry))
    }

    private func send(_ order: Order) {
        if case .dropped = sender.yield(order) {
            giveUp("events arrive faster than they can be written")
        }
    }

    private func giveUp(_ cause: String) {
        let isNews = state.withLock { state -> Bool in
            let wasRecording = state.isRecording
            state.isRecording = false
            state.wantsSegment = true
            return wasRecording
        }
        if isNews { onProblem("recording pauses until the host is idle: \(cause)") }
    }

    /// Writes until ``finish()``, and then what is left.
    public func run() async {
        var writer = SegmentWriter(directory: directory, limit: limit)
        for await order in orders {
            do {
                switch order {
                case .begin(let now, let isContinued): try writer.begin(at: now, isContinued: isContinued)
                case .entry(let entry): try writer.append(entry)
                }
                if writer.isFull { state.withLock { $0.wantsSegment = true } }
            } catch {
                writer.close()
                giveUp("\(error)")
            }
        }
    }

    /// Ends ``run()``.
    public func finish() {
        state.withLock { $0 = State() }
        sender.finish()
    }
}

/// The file that is written, and how much of the others may stay.
private struct SegmentWriter {
    private let directory: String
    private let limit: Int64
    private var file: AppendedFile?

    init(directory: String, limit: Int64) {
        self.directory = directory
        self.limit = limit
    }

    /// A segment holds a sixteenth of the log, so that one can go without much of the log going.
    private var segmentLimit: Int64 { limit / 16 }

    var isFull: Bool { (file?.size ?? 0) >= segmentLimit }

    mutating func begin(at now: Moment, isContinued: Bool) throws {
        file = nil
        try removeOldest()
        file = try AppendedFile(creating: freePath(from: now.wall))
        try write(RecordedSegment.Header(isContinued: isContinued))
    }

    /// Two starts within a millisecond, or a clock that was set back, take the next free name.
    private func freePath(from start: WallTime) -> String {
        var time = start
        while SmallFile.exists(RecordedLog.path(in: directory, startingAt: time)) {
            time = time + .milliseconds(1)
        }
        return RecordedLog.path(in: directory, startingAt: time)
    }

    mutating func append(_ entry: RecordedEntry) throws {
        guard file != nil else { return }
        try write(entry)
        if isFull, (file?.size ?? 0) >= segmentLimit * 4 {
            // The host has not been idle for that long. A gap in the recording is better than a full disk.
            close()
            throw RecordingError(
                subject: directory, finding: "the segment is four times as long as intended",
                remedy: "No action is needed: the next segment begins when the host is idle")
        }
    }

    mutating func close() { file = nil }

    private mutating func write(_ line: some Encodable) throws {
        var bytes = [UInt8](try ControlJSON.line(line))
        bytes.append(UInt8(ascii: "\n"))
        try file?.append(bytes)
    }

    /// Leaves room for one more segment.
    private func removeOldest() throws {
        let files = try RecordedLog.files(in: directory)
        var sum: Int64 = 0
        for file in files.reversed() {
            sum += try FileIdentity(of: file).size
            if sum > limit - segmentLimit { try DirectoryTree.remove(file) }
        }
    }
}
