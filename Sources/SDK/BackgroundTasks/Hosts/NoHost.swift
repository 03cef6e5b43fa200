import Foundation

/// Stands where no host is: everything that needs one is refused with what to do.
final class NoHost: AppHost {
    let permits: AppPermits? = nil
    let launchedFor: LaunchFacts? = nil
    let conditions = MachineConditions()

    func submit(_ request: RequestFacts) throws(Refusal) {
        throw Refusal(
            .unavailable,
            "\(request.identifier): this process runs under no bgtask host. "
                + "Build it as a plugin and run it with 'bgtask dev', or test it with BackgroundTasksTesting."
        )
    }

    func cancel(_ identifier: String?) {}
    func pending() -> [RequestFacts] { [] }

    func log(_ level: LogLevel, subsystem: String?, category: String?, _ message: String) {
        Self.write(level, subsystem: subsystem, category: category, message)
    }

    /// Writes a line for people who look at this process alone.
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

/// Lines for people who look at this process alone.
package enum StandardError {
    /// Writes a line; what can't be written is lost.
    package static func write(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}
