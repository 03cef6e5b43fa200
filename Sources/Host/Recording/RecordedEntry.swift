public import Scheduling
public import TaskModel

/// One line of a log: an event of the scheduler or of the machine, with its time.
public struct RecordedEntry: Equatable, Sendable {
    /// What happened.
    public enum Occurrence: Equatable, Sendable {
        /// The scheduler received this event.
        case event(SchedulerEvent)
        /// The machine was about to sleep: deferrable launches were asked to stop.
        case willSleep
        /// The machine woke, or did not sleep after all.
        case hasWoken
    }

    /// The three clocks then.
    public var at: Moment
    /// What happened.
    public var occurrence: Occurrence

    public init(at: Moment, _ occurrence: Occurrence) {
        self.at = at
        self.occurrence = occurrence
    }

    /// Whether a launch began.
    public var isLaunch: Bool {
        if case .event(.launchStarted) = occurrence { true } else { false }
    }

    /// The scheduler's event; `nil` for others.
    public var event: SchedulerEvent? {
        if case .event(let event) = occurrence { event } else { nil }
    }
}

/// `{"at":[boot,monotonic,wall],"event":{...}}` with whole nanoseconds, or `"machine":"willSleep"` in place
/// of the event.
extension RecordedEntry: Codable {
    private enum CodingKeys: String, CodingKey {
        case at, event, machine
    }

    private enum MachineWord: String, Codable {
        case willSleep, hasWoken
    }

    /// Decodes a line.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let clocks = try values.decode([Int64].self, forKey: .at)
        guard clocks.count == 3 else {
            throw DecodingError.dataCorruptedError(
                forKey: .at, in: values, debugDescription: "it has \(clocks.count) clocks instead of 3")
        }
        at = Moment(
            boot: .nanoseconds(clocks[0]), monotonic: .nanoseconds(clocks[1]),
            wall: WallTime(sinceEpoch: .nanoseconds(clocks[2])))
        if let event = try values.decodeIfPresent(SchedulerEvent.self, forKey: .event) {
            occurrence = .event(event)
        } else {
            switch try values.decode(MachineWord.self, forKey: .machine) {
            case .willSleep: occurrence = .willSleep
            case .hasWoken: occurrence = .hasWoken
            }
        }
    }

    /// Encodes a line.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        let clocks = [at.boot, at.monotonic, at.wall.sinceEpoch].map(\.wholeNanoseconds)
        try values.encode(clocks, forKey: .at)
        switch occurrence {
        case .event(let event): try values.encode(event, forKey: .event)
        case .willSleep: try values.encode(MachineWord.willSleep, forKey: .machine)
        case .hasWoken: try values.encode(MachineWord.hasWoken, forKey: .machine)
        }
    }
}

extension SchedulerEvent {
    /// The event without what users gave their tasks to work on: no policy looks at it, and a log may be
    /// handed on.
    public var withoutPayloads: SchedulerEvent {
        switch self {
        case .submitted(let request): .submitted(request.withoutPayload)
        case .launchEnded(let id, let putBack, let ending):
            .launchEnded(id, putBack: putBack?.withoutPayload, ending: ending)
        default: self
        }
    }
}

extension TaskRequest {
    fileprivate var withoutPayload: TaskRequest {
        var request = self
        request.submission.payload = nil
        request.submission.title = ""
        request.submission.subtitle = ""
        request.submission.idempotencyKey = nil
        return request
    }
}
