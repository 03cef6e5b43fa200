public import LogFiles
public import TaskModel

/// What the control channel does with the log; the host implements it.
public protocol LogControl: Sendable {
    /// The log lines that the host keeps in memory, oldest first. With a callback, the same call also follows
    /// the log.
    ///
    /// - Parameter receive: Called with every line after the returned ones, on any thread, and with `nil`
    ///   after the last line. It must not block. With `nil`, the log is not followed.
    /// - Returns: The lines, and a function that ends following; a line that is being delivered at that
    ///   moment may still arrive.
    func log(following receive: (@Sendable (LogLine?) -> Void)?) -> (
        remembered: [LogLine], stop: @Sendable () -> Void
    )

    /// The newest lines of the stored log that a query asks for, oldest first.
    func lines(_ query: LogQuery) async -> [LogLine]
}
