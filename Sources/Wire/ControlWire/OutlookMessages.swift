public import TaskModel

/// Something that people can do for a waiting request, with what the policies say would follow.
public struct RemedyMessage: Codable, Equatable, Sendable {
    /// One thing to do.
    public struct Act: Codable, Equatable, Sendable {
        /// What to do, as the beginning of a sentence: `Plug in`.
        public var text: String
        /// The command that does it, program first, such as `["bgtask", "expire", "L41"]`; `null` if no
        /// command does.
        @Explicit public var command: [String]?
    }

    /// What would follow; a newer host can have further values.
    public struct Effect: RawRepresentable, Codable, Equatable, Sendable {
        /// The name of the effect.
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request would start at once.
        public static let starts = Effect(rawValue: "starts")
        /// The request could start at ``RemedyMessage/at``.
        public static let startsAt = Effect(rawValue: "startsAt")
        /// No policy would object, but other requests go first.
        public static let takesTurn = Effect(rawValue: "takesTurn")
        /// The request would wait for ``RemedyMessage/waitsFor``.
        public static let waits = Effect(rawValue: "waits")
        /// The effect is not known.
        public static let unknown = Effect(rawValue: "unknown")
    }

    /// What to do; all of it is necessary for the effect.
    public var acts: [Act]
    /// What would follow.
    public var effect: Effect
    /// For `startsAt`: when the request could start.
    @Explicit public var at: Timestamp?
    /// For `startsAt`: when the host would start it, if no other event comes before; `null` if at once.
    @Explicit public var latest: Timestamp?
    /// For `waits`: what the request would wait for then.
    @Explicit public var waitsFor: String?
    /// The score now; `null` where scores do not count.
    @Explicit public var score: Double?
    /// The score after the acts; `null` where scores do not count.
    @Explicit public var scoreAfter: Double?

    public init(_ remedy: Remedy) {
        acts = remedy.acts.map { act in
            Act(text: act.text, command: act.command.map { ["bgtask"] + $0 })
        }
        switch remedy.effect {
        case .starts: effect = .starts
        case .startsAt(let first, let last):
            effect = .startsAt
            at = Timestamp(first)
            latest = last.map(Timestamp.init)
        case .takesTurn: effect = .takesTurn
        case .waits(let object):
            effect = .waits
            waitsFor = object
        case .unknown: effect = .unknown
        }
        score = remedy.score
        scoreAfter = remedy.scoreAfter
    }
}

/// A launch in the slot that a request waits for.
public struct SlotHolderMessage: Codable, Equatable, Sendable {
    /// The launch.
    public var launch: LaunchID
    /// The identifier of its task.
    public var identifier: TaskIdentifier
    /// When its slot is free at the latest, with all renewals and the grace period; `null` if nothing limits
    /// the launch, or if its handler was not called yet.
    @Explicit public var latestEnd: Timestamp?
    /// Whether the host asked the launch to stop already.
    public var isExpiring: Bool
    /// Whether the request would start if this launch stopped now.
    public var isDecisive: Bool

    public init(_ holder: SlotHolder) {
        launch = holder.launch
        identifier = holder.identifier
        isExpiring = holder.isExpiring
        isDecisive = holder.isDecisive
        latestEnd = holder.latestEnd.map(Timestamp.init)
    }
}

/// How long a request has waited for one thing.
public struct WaitMessage: Codable, Equatable, Sendable {
    /// The policy that kept the request waiting; `Score`, `Window`, or `Host` for the time before the host's
    /// last start.
    public var policy: String
    /// What the request waited for, in words: `power`.
    public var object: String
    /// How long, in seconds, sleeps of the machine included.
    public var seconds: Double

    public init(_ span: WaitSpan) {
        policy = span.policy
        object = span.object
        seconds = Double(span.duration.wholeMilliseconds) / 1000
    }
}
