import RunnerWire
import TaskModel

/// How much of the host's CPU time the launches of each bundle may still use by what they send and print: a
/// token bucket for each bundle.
///
/// Without it, a task that sends checkpoints or prints lines without a pause would keep the host busy, and no
/// limit of the task's own CPU time would count that.
struct MessageAllowances: Sendable {
    /// What a bundle gets.
    struct Rate: Equatable, Sendable {
        /// The part of a core that it may use all the time.
        var share = 0.2
        /// What it may use at once after a pause of 10 s.
        ///
        /// Our choice: 50,000 lines, more than the host keeps of the output of a launch.
        var most = Duration.seconds(2)
    }

    private struct Bucket {
        var left: Duration
        /// When ``left`` was computed, on CLOCK_MONOTONIC.
        var at: Duration
    }

    let rate: Rate
    private var buckets: [BundleIdentifier: Bucket] = [:]

    init(rate: Rate) { self.rate = rate }

    /// Counts work that a launch has made.
    ///
    /// - Parameters:
    ///   - work: The CPU time of the host, as ``MessageCost`` estimates it.
    ///   - bundle: The bundle of the launch.
    ///   - time: The present time on CLOCK_MONOTONIC.
    /// - Returns: How long the host must not read what the launch sends; `nil` if it can go on.
    mutating func spend(_ work: Duration, of bundle: BundleIdentifier, at time: Duration) -> Duration? {
        var bucket = buckets[bundle] ?? Bucket(left: rate.most, at: time)
        bucket.left = min(rate.most, bucket.left + max(.zero, time - bucket.at) * rate.share) - work
        // What was sent when nothing could wait must not slow the bundle down for minutes.
        bucket.left = max(bucket.left, rate.most * -1)
        bucket.at = time
        buckets[bundle] = bucket
        return bucket.left < .zero ? bucket.left * -1 / rate.share : nil
    }
}

/// How much CPU time of the host it costs what a launch sends or prints, with everything that follows: log,
/// store, scheduler and answers.
///
/// These are estimates from floods that were measured on a slow machine (decision 120): to measure each
/// message would cost more than a message.
enum MessageCost {
    private static let read = Duration.microseconds(10)
    private static let question = Duration.microseconds(40)
    private static let news = Duration.microseconds(100)
    private static let checkpoint = Duration.microseconds(500)
    /// A line of the output or the log.
    static let line = Duration.microseconds(40)

    /// Bytes of output that were read, without what the lines in them cost.
    static func time(ofOutput count: Int) -> Duration { read + .nanoseconds(count / 2) }

    /// Bytes of messages that were read: texts are decoded, and escaped.
    static func time(ofMessages count: Int) -> Duration { read + .nanoseconds(25) * count }

    /// One message, before it is decoded.
    static let message = Duration.nanoseconds(800)

    /// What a message costs besides that.
    static func time(of report: TaskReportMessage) -> Duration {
        switch report {
        // A refusal of a large payload names the key that is wrong.
        case .submit(let submit): question + .nanoseconds(400) * (submit.payload?.count ?? 0)
        case .sessionCall(let call): question + .nanoseconds(20) * call.question.count
        case .cancel, .pending, .beginAssertion, .endAssertion: question
        case .log: line
        // Of the first four, the host uses only some, and counts them when it does.
        case .progress, .title, .checkpoint, .advice: .zero
        case .ready, .stack, .fault, .crash, .loadFailed, .done: .zero
        }
    }

    /// An answer that lists pending requests.
    static func time(ofListed count: Int) -> Duration { .microseconds(2) * count }

    /// What the host stores and shows at most 20 times a second; `checkpoint` is its size in bytes.
    static func time(ofProgress hasProgress: Bool, title hasTitle: Bool, checkpoint: Int?) -> Duration {
        var time = hasProgress ? news : .zero
        if hasTitle { time += news }
        if let checkpoint { time += Self.checkpoint + .nanoseconds(10) * checkpoint }
        return time
    }
}
