import ControlWire
public import TaskModel

/// Which lines of the stored log a client wants.
public struct LogSelection: Equatable, Sendable {
    /// Lines about this launch alone; `nil` for all.
    public var launch: LaunchID?
    /// Lines about this task alone; `nil` for all.
    public var identifier: TaskIdentifier?
    /// The time of the oldest line; `nil` for no limit.
    public var since: WallTime?
    /// The time of the newest line; `nil` for no limit.
    public var until: WallTime?
    /// The greatest number of lines, from 1 to ``ControlProtocol/maximumLogLines``; the newest count.
    public var limit = ControlProtocol.maximumLogLines

    /// Selects the newest lines.
    public init() {}

    /// The query of the request.
    var query: String {
        var parts = ["limit=\(limit)"]
        if let launch { parts.append("launch=\(launch)") }
        if let identifier { parts.append("identifier=\(identifier)") }
        if let since { parts.append("since=\(Timestamp(since))") }
        if let until { parts.append("until=\(Timestamp(until))") }
        return parts.joined(separator: "&")
    }
}
