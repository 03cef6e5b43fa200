/// What is known about the end of a launch that crashed, was killed, or reached a limit.
///
/// The outcome, the reason, the code and the signal are in ``LaunchEnd``; this report contains what the
/// processes did at the fatal moment. Its texts are safe to show.
public struct TerminationReport: Codable, Equatable, Sendable {
    /// A limit that the launch reached.
    public struct Limit: Codable, Equatable, Sendable {
        /// What is limited, such as `memory`.
        public var name: String
        /// The limit, with its unit.
        public var limit: String
        /// What the launch used, with its unit; `nil` if that is unknown.
        public var used: String?

        public init(_ name: String, limit: String, used: String?) {
            self.name = name
            self.limit = limit
            self.used = used
        }
    }

    /// One thread at the fatal moment.
    public struct Thread: Codable, Equatable, Sendable {
        /// The number of the thread in the host's PID namespace.
        public var number: Int32
        /// The name of the thread.
        public var name: String
        /// Whether this thread got the fatal signal.
        public var isFatal: Bool
        /// CPU time since the thread began, in seconds.
        public var cpuSeconds: Double
        /// What the kernel says about the thread, such as `running` or `sleeping`.
        public var state: String
        /// The system call that the thread was in, such as `futex`; `nil` if it was in none or that is
        /// unknown.
        public var systemCall: String?
        /// The function of the kernel in which the thread waited; `nil` if it did not wait or that is
        /// unknown.
        public var waitChannel: String?
        /// The functions on the stack, innermost first; empty if the thread did not answer.
        public var frames: [String]

        public init(
            number: Int32, name: String, isFatal: Bool, cpuSeconds: Double, state: String,
            systemCall: String?,
            waitChannel: String?, frames: [String]
        ) {
            self.number = number
            self.name = name
            self.isFatal = isFatal
            self.cpuSeconds = cpuSeconds
            self.state = state
            self.systemCall = systemCall
            self.waitChannel = waitChannel
            self.frames = frames
        }
    }

    /// An assertion that was open at the fatal moment.
    public struct Assertion: Codable, Equatable, Sendable {
        /// The name from the handler.
        public var name: String
        /// How long it had been open, in seconds.
        public var ageSeconds: Double
        /// The functions that began it, innermost first.
        public var frames: [String]

        public init(name: String, ageSeconds: Double, frames: [String]) {
            self.name = name
            self.ageSeconds = ageSeconds
            self.frames = frames
        }
    }

    /// The last progress that the launch reported.
    public struct LastProgress: Codable, Equatable, Sendable {
        /// Completed units.
        public var completed: Int64
        /// Total units; 0 means that the progress is indeterminate.
        public var total: Int64
        /// What the task was doing; `nil` if it did not say.
        public var message: String?
        /// How long before the fatal moment the numbers changed last, in seconds.
        public var ageSeconds: Double

        public init(_ progress: TaskProgress, ageSeconds: Double) {
            completed = progress.completed
            total = progress.total
            message = progress.message
            self.ageSeconds = ageSeconds
        }
    }

    /// What a launch without progress did, seen before it was asked to stop.
    public struct Stall: Codable, Equatable, Sendable {
        /// The two kinds of launches without progress.
        public enum Verdict: String, Codable, Sendable, CaseIterable {
            /// It worked, but reported no progress.
            case slow
            /// It waited, and used almost no CPU time.
            case stuck
        }

        /// Whether the launch was slow or stuck.
        public var verdict: Verdict
        /// The time since the last progress or, without any, since the start of the handler, in seconds.
        public var seconds: Double
        /// The CPU time that the launch used in that time, in seconds.
        public var cpuSeconds: Double
        /// The rate of the progress before, in units per minute; `nil` if there were fewer than two reports.
        public var unitsPerMinute: Double?
        /// What the main thread waited for, such as `futex`; `nil` if it was running or that is unknown.
        public var waitsIn: String?

        public init(
            seconds: Double, cpuSeconds: Double, unitsPerMinute: Double?, waitsIn: String?
        ) {
            // A loop that polls once in 10 ms uses about 1 % of a core.
            verdict = cpuSeconds * 50 >= seconds ? .slow : .stuck
            self.seconds = seconds
            self.cpuSeconds = cpuSeconds
            self.unitsPerMinute = unitsPerMinute
            self.waitsIn = waitsIn
        }
    }

    /// The limits that the launch reached, the first one first.
    public var limits: [Limit]
    /// The address that the kernel gave with the fatal signal (`si_addr`), in hexadecimal; `nil` if there was
    /// no crash, if a process sent the signal, as `abort` does, and for `SIGSYS`.
    public var faultAddress: String?
    /// The threads, the one that got the fatal signal first.
    public var threads: [Thread]
    /// How many more threads there were.
    public var furtherThreads: Int
    /// The open assertions, the oldest first.
    public var assertions: [Assertion]
    /// How many more assertions were open.
    public var furtherAssertions: Int
    /// The last progress; `nil` if the launch reported none.
    public var lastProgress: LastProgress?
    /// What the launch did while it made no progress; `nil` if it was not asked to stop for that.
    public var stall: Stall?
    /// Why the report lacks something, in sentences.
    public var notes: [String]

    public init() {
        limits = []
        threads = []
        furtherThreads = 0
        assertions = []
        furtherAssertions = 0
        notes = []
    }
}
