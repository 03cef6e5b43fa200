import Foundation
import Synchronization

/// The open assertions of the process, which keep it alive after its task has completed.
///
/// All assertions share one time allowance, which begins when the task has completed. Five seconds before its
/// end, all expiration handlers are called on the main thread. An assertion that is still open at the end is
/// a leak: the process ends, and reports each one's name, age and stack.
package final class AssertionBook: Sendable {
    /// The only instance in the process.
    package static let shared = AssertionBook()

    /// The largest number of open assertions; Apple also ends an app that begins more, with 0xbada5e47.
    package static let maximum = 1000
    /// The longest time, in seconds, that all expiration handlers together may take: Apple's figure for an
    /// app.
    static let handlersTime: TimeInterval = 5

    private struct Entry {
        let name: String
        let begun: DispatchTime
        let stack: [String]
        /// The number that the host gave the assertion; `nil` if no host launched this process, for example
        /// because the user started the app.
        let hostID: UInt64?
        let handler: (@MainActor @Sendable () -> Void)?
    }

    private enum Phase {
        /// The task is running, so no time is counted.
        case running
        /// The task has completed; `until` is the time at which the process ends.
        case counting(until: DispatchTime)
        /// The expiration handlers were called; no assertion can begin any more.
        case expiring
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var last = 0
        var phase = Phase.running
        var mainThreadAnswered = false
        var whenEmpty: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let timers = DispatchQueue(label: "BackgroundTasks.assertions", qos: .userInitiated)

    /// Begins an assertion.
    ///
    /// - Parameters:
    ///   - name: The name in reports.
    ///   - handler: Called on the main thread shortly before the allowance ends; it must end the assertion.
    /// - Returns: The number of the assertion, from 1; 0 if assertions have begun to expire.
    package func begin(_ name: String, handler: (@MainActor @Sendable () -> Void)?) -> Int {
        let host = App.shared.host
        let (isLate, count) = state.withLock { state -> (Bool, Int) in
            if case .expiring = state.phase { return (true, state.entries.count) }
            return (false, state.entries.count)
        }
        if isLate { return 0 }
        if count >= Self.maximum {
            misuse(
                "0xbada5e47",
                "More than \(Self.maximum) background-task assertions are open at once. "
                    + "End each with endBackgroundTask(_:). The newest: \(names(10)).")
        }
        let hostID = host.isLaunch ? host.beginAssertion(name) : nil
        if host.isLaunch, hostID == nil { return 0 }
        let stack = Array(Thread.callStackSymbols.dropFirst(2).prefix(12))
        return state.withLock { state in
            state.last += 1
            state.entries[state.last] = Entry(
                name: name, begun: .now(), stack: stack, hostID: hostID, handler: handler)
            return state.last
        }
    }

    /// Ends an assertion; if it is not open, this does nothing.
    package func end(_ number: Int) {
        let (entry, whenEmpty) = state.withLock { state -> (Entry?, (@Sendable () -> Void)?) in
            guard let entry = state.entries.removeValue(forKey: number) else { return (nil, nil) }
            return (entry, state.entries.isEmpty ? state.whenEmpty : nil)
        }
        guard let entry else { return }
        if let hostID = entry.hostID { App.shared.host.endAssertion(hostID) }
        whenEmpty?()
    }

    /// The seconds that the app may still run for its assertions after its task has ended; the largest finite
    /// number while the task runs.
    package var timeRemaining: TimeInterval {
        switch state.withLock({ $0.phase }) {
        case .running: .greatestFiniteMagnitude
        case .counting(let end): max(0, DispatchTime.now().seconds(to: end))
        case .expiring: 0
        }
    }

    /// Starts the allowance, because the task has completed.
    ///
    /// - Parameters:
    ///   - allowance: The length of the allowance, in seconds.
    ///   - whenEmpty: Called when no assertion is open; immediately if there is none now.
    package func count(_ allowance: TimeInterval, whenEmpty: @escaping @Sendable () -> Void) {
        let isEmpty = state.withLock { state in
            state.whenEmpty = whenEmpty
            if case .running = state.phase { state.phase = .counting(until: .now() + allowance) }
            return state.entries.isEmpty
        }
        if isEmpty {
            whenEmpty()
            return
        }
        let handlersTime = min(Self.handlersTime, allowance / 2)
        timers.asyncAfter(deadline: .now() + (allowance - handlersTime)) { self.expire(within: handlersTime) }
    }

    /// Calls every expiration handler on the main thread; assertions that are open `seconds` later are leaks.
    package func expire(within seconds: TimeInterval) {
        let open = state.withLock { state -> [(Int, Entry)] in
            if case .expiring = state.phase { return [] }
            state.phase = .expiring
            return state.entries.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        }
        for (number, entry) in open where entry.handler == nil {
            App.shared.host.advise(
                "assertionWithoutHandler",
                "the assertion '\(entry.name)' has no expiration handler and was still open when the time was up: the "
                    + "host ended it. End it with endBackgroundTask(_:) when the work is done, and in its handler."
            )
            end(number)
        }
        let handlers = open.compactMap(\.1.handler)
        guard !handlers.isEmpty else { return }
        DispatchQueue.main.async {
            self.state.withLock { $0.mainThreadAnswered = true }
            MainActor.assumeIsolated { for handler in handlers { handler() } }
        }
        timers.asyncAfter(deadline: .now() + seconds) { self.endLeaks() }
    }

    private func endLeaks() {
        let (open, answered) = state.withLock {
            ($0.entries.sorted { $0.key < $1.key }.map(\.value), $0.mainThreadAnswered)
        }
        guard !open.isEmpty else { return }
        let cause =
            answered
            ? "\(open.count) background-task assertion\(open.count == 1 ? "" : "s") leaked"
            : "the main thread was stuck: no expiration handler could be called on it"
        let lines = open.map { entry in
            let age = entry.begun.seconds(to: .now())
            return "'\(entry.name)', \(String(format: "%.1f", age)) s old, begun at:\n"
                + entry.stack.map { "    " + $0 }.joined(separator: "\n")
        }
        misuse(
            "0x8badf00d",
            "Background task still not ended after expiration handlers were called: \(cause). "
                + "Call endBackgroundTask(_:) on every path.\n" + lines.joined(separator: "\n"))
    }

    private func names(_ count: Int) -> String {
        state.withLock { state in
            state.entries.sorted { $0.key > $1.key }.prefix(count).map { "'\($0.value.name)'" }
                .joined(separator: ", ")
        }
    }
}

extension DispatchTime {
    /// Seconds from this time to another one; negative if the other one is earlier.
    fileprivate func seconds(to other: DispatchTime) -> TimeInterval {
        TimeInterval(other.uptimeNanoseconds) / 1e9 - TimeInterval(uptimeNanoseconds) / 1e9
    }
}
