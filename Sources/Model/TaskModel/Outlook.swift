/// What a pending request waits for, in one sentence, and what would let it start.
///
/// Each remedy was tried: the scheduler judged the request again with the changed fact.
public struct Outlook: Equatable, Hashable, Sendable, Codable {
    /// One sentence for people.
    ///
    /// For example, `Waits for power: plug in, and it starts at once.`
    /// It has no full stop if it ends with a command that people copy.
    public var headline: String
    /// What would let the request start or bring it closer to its start; empty if people can only wait.
    public var remedies: [Remedy]
    /// The launches that occupy what the request waits for; empty if it waits for no slot.
    public var holders: [SlotHolder]
    /// What the request has waited for until now, the longest wait first.
    public var waited: [WaitSpan]

    public init(
        headline: String, remedies: [Remedy] = [], holders: [SlotHolder] = [], waited: [WaitSpan] = []
    ) {
        self.headline = headline
        self.remedies = remedies
        self.holders = holders
        self.waited = waited
    }
}

/// Something that people can do for a waiting request, with what the policies say would follow.
public struct Remedy: Equatable, Hashable, Sendable, Codable {
    /// One thing to do.
    public struct Act: Equatable, Hashable, Sendable, Codable {
        /// What to do, as the beginning of a sentence: `Plug in`.
        public var text: String
        /// The arguments of the `bgtask` command that does it; `nil` if no command does.
        public var command: [String]?

        public init(text: String, command: [String]? = nil) {
            self.text = text
            self.command = command
        }
    }

    /// What would follow.
    public enum Effect: Equatable, Hashable, Sendable, Codable {
        /// The request would start at once.
        case starts
        /// The request could start from the first date on, with the next event that the host gets. At
        /// `latest`, an alarm of the host would start it; `nil` if the alarm is at the first date.
        case startsAt(WallTime, latest: WallTime?)
        /// No policy would object, but other requests go first.
        case takesTurn
        /// After the acts, the request would wait for something else, such as `a free slot`.
        case waits(String)
        /// The effect is not known, for example because a sensor must be repaired first.
        case unknown
    }

    /// What to do; all of it is necessary for the effect.
    public var acts: [Act]
    /// What would follow.
    public var effect: Effect
    /// The request's score now; `nil` if scores do not count.
    public var score: Double?
    /// The score after the acts; `nil` if scores do not count.
    public var scoreAfter: Double?

    public init(acts: [Act], effect: Effect, score: Double? = nil, scoreAfter: Double? = nil) {
        self.acts = acts
        self.effect = effect
        self.score = score
        self.scoreAfter = scoreAfter
    }
}

/// A launch in the slot that a request waits for.
public struct SlotHolder: Equatable, Hashable, Sendable, Codable {
    /// The launch.
    public var launch: LaunchID
    /// The identifier of its task.
    public var identifier: TaskIdentifier
    /// When its slot is free at the latest: the end of its lease, with renewals and the grace period; `nil`
    /// if nothing limits the launch.
    public var latestEnd: WallTime?
    /// Whether the launch was asked to stop already.
    public var isExpiring: Bool
    /// Whether the request would start if this launch stopped now.
    public var isDecisive: Bool

    public init(
        launch: LaunchID, identifier: TaskIdentifier, latestEnd: WallTime?, isExpiring: Bool, isDecisive: Bool
    ) {
        self.launch = launch
        self.identifier = identifier
        self.latestEnd = latestEnd
        self.isExpiring = isExpiring
        self.isDecisive = isDecisive
    }
}

/// How long a request has waited for one thing.
public struct WaitSpan: Equatable, Hashable, Sendable, Codable {
    /// The policy that kept the request waiting.
    public var policy: String
    /// What the request waited for: `power`.
    public var object: String
    /// The time on CLOCK_BOOTTIME, in whole milliseconds.
    public var duration: Duration

    public init(policy: String, object: String, duration: Duration) {
        self.policy = policy
        self.object = object
        self.duration = duration
    }
}
