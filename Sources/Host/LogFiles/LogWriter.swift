import Synchronization
public import TaskModel

/// Writes the lines of the log to files, without blocking those who log.
///
/// Lines are written as they come, and not synced: they survive the end of the host, and a failure of the
/// machine costs those of the last seconds. A launch that prints more than its share loses the rest of its
/// lines. All functions can be called from any thread.
public final class LogWriter: Sendable {
    /// How much the log may occupy.
    public struct Limits: Equatable, Sendable {
        /// The size of all files together, in bytes; at least 1 MiB.
        ///
        /// Our choice: enough for some weeks of an ordinary device.
        public var size: Int64 = 64 << 20
        /// How long lines are kept.
        public var age = Duration.seconds(14 * 86_400)
        /// The size of the lines that one launch prints and logs, in bytes.
        public var perLaunch: Int64 = 1 << 20

        /// Creates the default limits.
        public init() {}
    }

    private enum Order: Sendable {
        case line(LogLine)
        case flush(CheckedContinuation<Void, Never>)
    }

    /// How many orders can wait to be written; further lines are lost.
    private static let capacity = 16_384

    private let orders: AsyncStream<Order>
    private let sender: AsyncStream<Order>.Continuation
    private let lost = Mutex(0)
    private let isWritten = Mutex(false)

    /// Creates a writer, which keeps lines in its queue before ``run(in:limits:at:onProblem:)``.
    public init() {
        let stream = AsyncStream.makeStream(
            of: Order.self, bufferingPolicy: .bufferingOldest(Self.capacity))
        (orders, sender) = (stream.stream, stream.continuation)
    }

    /// Adds a line, which is written soon.
    public func append(_ line: LogLine) {
        if case .dropped = sender.yield(.line(line)) { lost.withLock { $0 += 1 } }
    }

    /// Returns when all lines that were added before have been written.
    ///
    /// - Returns: Whether they were written; false before the writer runs, and after a line could not be
    ///   written.
    public func flush() async -> Bool {
        guard isWritten.withLock({ $0 }) else { return false }
        await withCheckedContinuation { done in
            if case .enqueued = sender.yield(.flush(done)) { return }
            done.resume()
        }
        return isWritten.withLock { $0 }
    }

    /// Writes lines to files; returns after ``finish()``, when all lines have been written.
    ///
    /// - Parameters:
    ///   - directory: The directory of the files; it is made if it does not exist.
    ///   - limits: How much the files may occupy.
    ///   - now: Returns the time of the wall clock.
    ///   - onProblem: Called with a sentence if lines can't be written, at most once an hour.
    public func run(
        in directory: LogDirectory, limits: Limits, at now: @escaping @Sendable () -> WallTime,
        onProblem: @escaping @Sendable (String) -> Void
    ) async {
        var files = LogFileSequence(directory: directory, limits: limits)
        var complaint: WallTime?
        var pause: WallTime?
        isWritten.withLock { $0 = true }
        for await order in orders {
            guard case .line(let line) = order else {
                if case .flush(let done) = order { done.resume() }
                continue
            }
            let time = now()
            // A full disk stays full for a while, and each attempt reads the directory.
            if let end = pause, time < end, end + .seconds(-10) <= time {
                lost.withLock { $0 += 1 }
                continue
            }
            let missing = lost.withLock { count in
                defer { count = 0 }
                return count
            }
            do {
                if missing > 0 { try files.append(.missing(missing, at: line.at), now: time) }
                try files.append(line, now: time)
                isWritten.withLock { $0 = true }
                pause = nil
            } catch {
                // The next line opens another file.
                files.close()
                isWritten.withLock { $0 = false }
                lost.withLock { $0 += missing + 1 }
                pause = time + .seconds(10)
                if complaint.map({ $0 + .seconds(3600) <= time || time < $0 }) ?? true {
                    complaint = time
                    onProblem("the log is not stored: \(error)")
                }
            }
        }
        isWritten.withLock { $0 = false }
    }

    /// Ends the writing, so that ``run(in:limits:at:onProblem:)`` returns.
    public func finish() { sender.finish() }
}

extension LogLine {
    /// The line that stands for lines that came faster than they could be written.
    fileprivate static func missing(_ count: Int, at time: WallTime) -> LogLine {
        LogLine(
            at: time, level: .warning, source: .host,
            message:
                "\(count) \(count == 1 ? "line is" : "lines are") missing here: they came faster than they could be stored, or the disk was full"
        )
    }
}
