public import TaskModel

/// A launch as a table shows it: one row of `GET /v1/launches?form=rows`.
public struct LaunchListingRow: Equatable, Sendable {
    /// The launch's id, such as `L42`.
    public var launch: LaunchID
    /// The task's identifier.
    public var identifier: TaskIdentifier
    /// The state of the launch.
    public var state: LaunchState
    /// How the launch ended; `nil` if it has not.
    public var outcome: Outcome?
    /// Why the launch ended or, before that, why it was asked to stop; `nil` if there is no reason.
    public var reason: Reason?
    /// The number of the attempt; 1 for the first launch of the request.
    public var attempt: Int
    /// When the host recorded the launch.
    public var startedAt: Timestamp
    /// When the launch ended; `nil` if it has not.
    public var endedAt: Timestamp?
    /// CPU time of the launch and all its descendants, in seconds.
    public var cpuSeconds: Double
    /// Whether ``cpuSeconds`` may be too low, because there was no cgroup to measure it.
    public var cpuIsLowerBound: Bool
    /// The newest progress; `nil` if the launch reported none.
    public var progress: ProgressMessage?

    /// Copies the columns of a launch.
    public init(_ launch: LaunchMessage) {
        self.launch = launch.launch
        identifier = launch.identifier
        state = launch.state
        outcome = launch.outcome
        reason = launch.reason
        attempt = launch.attempt
        startedAt = launch.startedAt
        endedAt = launch.endedAt
        cpuSeconds = launch.cpuSeconds
        cpuIsLowerBound = launch.cpuIsLowerBound
        progress = launch.progress
    }

    /// Decodes a row.
    ///
    /// - Parameter line: The array, as ``lines(of:)`` writes it.
    /// - Throws: A sentence about the first value that is not valid.
    public init(line: ArraySlice<UInt8>) throws {
        var values = try JSONRowReader(line)
        launch = LaunchID(rawValue: try values.number())
        identifier = try TaskIdentifier(values.string())
        state = try values.word()
        outcome = try values.optionalWord()
        reason = try values.optionalWord()
        attempt = Int(try values.number())
        startedAt = Timestamp(WallTime(milliseconds: try values.number()))
        endedAt = try values.optionalNumber().map { Timestamp(WallTime(milliseconds: $0)) }
        cpuSeconds = Double(try values.number()) / 1_000_000
        cpuIsLowerBound = try values.flag()
        let completed = try values.optionalNumber()
        let total = try values.optionalNumber()
        let message = try values.optionalString()
        if let completed, let total {
            progress = ProgressMessage(
                TaskProgress(completed: completed, total: total, message: message))
        }
        try values.end()
    }

    /// Encodes rows: each is an array on its own line.
    ///
    /// - Parameter launches: The launches.
    /// - Returns: The lines.
    public static func lines(of launches: [LaunchSummary]) -> [UInt8] {
        var text = JSONText()
        for launch in launches {
            text.raw("[")
            text.number(launch.id.rawValue)
            text.raw(",")
            text.string(launch.identifier.rawValue)
            text.raw(",")
            text.string(launch.state.rawValue)
            text.raw(",")
            text.string(launch.outcome?.rawValue)
            text.raw(",")
            text.string(launch.reason?.rawValue)
            text.raw(",")
            text.number(Int64(launch.attempt))
            text.raw(",")
            text.number(launch.startedAt.milliseconds)
            text.raw(",")
            text.number(launch.endedAt?.milliseconds)
            text.raw(",")
            text.number(launch.cpuTime.wholeNanoseconds / 1000)
            text.raw(launch.cpuIsLowerBound ? ",true," : ",false,")
            text.number(launch.progress?.completed)
            text.raw(",")
            text.number(launch.progress?.total)
            text.raw(",")
            text.string(launch.progress?.message)
            text.raw("]\n")
        }
        return text.bytes
    }
}
