import Foundation

/// The host of a process that has none: it refuses all requests, with a message that says what to do.
final class NoHost: AppHost {
    let permits: AppPermits? = nil
    let launchedFor: LaunchFacts? = nil
    let conditions = MachineConditions()

    func submit(_ request: RequestFacts) throws(Refusal) {
        throw Refusal(
            .unavailable,
            "\(request.identifier): no bgtask host was found, because no control socket exists. Start a host "
                + "(bgtaskd), then start this program again. Or build the program as a plugin and run it with "
                + "'bgtask dev', or test it with BackgroundTasksTesting."
        )
    }

    func cancel(_ identifier: String?) {}
    func pending() -> [RequestFacts] { [] }

    func log(_ level: LogLevel, subsystem: String?, category: String?, _ message: String) {
        Self.write(level, subsystem: subsystem, category: category, message)
    }

    /// Writes a line to standard error.
    static func write(_ level: LogLevel, subsystem: String?, category: String?, _ message: String) {
        let place = [subsystem, category].compactMap(\.self).joined(separator: ":")
        StandardError.write(place.isEmpty ? message : "[\(place)] \(message)")
    }

    func advise(_ code: String, _ message: String) { StandardError.write("BackgroundTasks: \(message)") }
    func fault(_ code: String, _ message: String) {}
    func beginAssertion(_ name: String) -> UInt64? { nil }
    func endAssertion(_ assertion: UInt64) {}
    let assertionAllowance: TimeInterval = 30
    func observeConditions(_ handler: @escaping @Sendable (MachineConditions) -> Void) {}
}

/// Lines on standard error, for a user who runs the process without a host.
package enum StandardError {
    /// Writes a line; errors are ignored.
    package static func write(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}
