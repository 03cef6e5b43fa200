public import Scheduling
public import TaskModel

/// One line of a log: an event of the scheduler or the machine, with its time.
public struct RecordedEntry: Equatable, Sendable {
    /// An event in a log.
    public enum Occurrence: Equatable, Sendable {
        /// An event that the scheduler received.
        case event(SchedulerEvent)
        /// The machine was about to sleep, so the host asked deferrable launches to stop.
        case willSleep
        /// The machine woke up, or did not sleep after all.
        case hasWoken
    }

    /// The time of the event on the three clocks.
    public var at: Moment
    /// The event.
    public var occurrence: Occurrence

    public init(at: Moment, _ occurrence: Occurrence) {
        self.at = at
        self.occurrence = occurrence
    }

    /// Whether the event is the start of a launch.
    public var isLaunch: Bool {
        if case .event(.launchStarted) = occurrence { true } else { false }
    }

    /// The scheduler's event; `nil` if this is an event of the machine.
    public var event: SchedulerEvent? {
        if case .event(let event) = occurrence { event } else { nil }
    }
}

/// The JSON form is `{"at":[boot,monotonic,wall],"event":{...}}`, with clocks in whole nanoseconds.
///
/// An event of the machine has `"machine":"willSleep"` or `"machine":"hasWoken"` in place of `event`, and a
/// change of the manifests has `"manifests":[...]`.
extension RecordedEntry: Codable {
    private enum CodingKeys: String, CodingKey {
        case at, event, machine, manifests
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
        } else if let manifests = try values.decodeIfPresent([CompactManifest].self, forKey: .manifests) {
            occurrence = .event(.handlersChanged(manifests.map(\.whole)))
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
        case .event(.handlersChanged(let manifests)):
            try values.encode(manifests.map(CompactManifest.init), forKey: .manifests)
        case .event(let event): try values.encode(event, forKey: .event)
        case .willSleep: try values.encode(MachineWord.willSleep, forKey: .machine)
        case .hasWoken: try values.encode(MachineWord.hasWoken, forKey: .machine)
        }
    }
}

extension SchedulerEvent {
    /// The event without the data that users gave their tasks: payloads, titles, idempotency keys and the
    /// texts of progress.
    ///
    /// No policy reads this data, except the values of the payload's keys that a manifest's `when` names, and
    /// users may pass a log on to others.
    ///
    /// - Parameter keys: The keys of payloads whose values remain.
    /// - Returns: The event without that data.
    public func withoutPayloads(except keys: Set<String> = []) -> SchedulerEvent {
        switch self {
        case .submitted(let request): .submitted(request.withoutPayload(except: keys))
        case .launchEnded(let id, let putBack, let ending):
            .launchEnded(id, putBack: putBack?.withoutPayload(except: keys), ending: ending)
        case .progressed(let id, let progress, let changedAt):
            .progressed(
                id, TaskProgress(completed: progress.completed, total: progress.total), changedAt: changedAt)
        default: self
        }
    }
}

extension TaskRequest {
    fileprivate func withoutPayload(except keys: Set<String>) -> TaskRequest {
        var request = self
        request.submission.payload = PayloadFacts(submission.payload, keys: keys).json
        request.submission.title = ""
        request.submission.subtitle = ""
        request.submission.idempotencyKey = nil
        return request
    }
}
