import BackgroundTasks
public import Foundation

/// Runs a test with a new app: it has no handlers and no pending requests, and it needs no host.
///
/// A process has only one `BGTaskScheduler.shared`. Therefore, such tests wait for each other, even if the
/// test runner runs them at the same time.
///
/// ```swift
/// @Test func `refreshes and submits again`() async throws {
///     try await withTestApp(permitting: ["org.example.feed.refresh": .appRefresh]) { app in
///         app.start(Feed.self)
///         let launch = try app.launch("org.example.feed.refresh")
///         #expect(await launch.ended() == .completed(success: true))
///         #expect(app.pending.count == 1)
///     }
/// }
/// ```
///
/// - Parameters:
///   - bundle: The bundle's id.
///   - identifiers: The identifiers that the manifest permits, with their kinds; continued identifiers may
///     end in `.*`.
///   - date: The time at which the virtual clock begins.
///   - body: The test.
/// - Returns: The value that the test returned.
public func withTestApp<Answer: Sendable>(
    bundle: String = "org.example.test", permitting identifiers: [String: TestApp.Kind],
    at date: Date = Date(timeIntervalSince1970: 1_800_000_000),
    _ body: (TestApp) async throws -> Answer
) async rethrows -> Answer {
    await turns.take()
    let app = TestApp(bundle: bundle, kinds: identifiers, date: date)
    App.shared.adopt(app.host)
    do {
        let answer = try await body(app)
        await turns.give()
        return answer
    } catch {
        await turns.give()
        throw error
    }
}

/// Gives the process's scheduler to one test at a time.
private actor Turns {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func give() {
        guard let next = waiting.first else {
            isTaken = false
            return
        }
        waiting.removeFirst()
        next.resume()
    }
}

private let turns = Turns()
