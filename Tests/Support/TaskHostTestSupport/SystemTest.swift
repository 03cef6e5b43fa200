import Foundation
public import Testing

/// The trait of tests that start processes or wait for the kernel.
///
/// Such a test may block: it runs on its own thread and not in Swift's pool. `.ci/speeds.py` finds the trait
/// in the sources. `make test-quick` leaves these suites out; `make test` runs several of them at a time, but
/// suites with `.alone` one by one.
public struct SystemTest: SuiteTrait, TestTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let start = ContinuousClock.now
        defer { Self.note(ContinuousClock.now - start, of: "\(test.id)") }
        try await withTaskExecutorPreference(PatientThreads.shared) { try await function() }
    }

    /// Adds a line to the file that `BGTASK_TEST_TIMES` names, for `.ci/tests`.
    ///
    /// The times that Swift Testing prints begin when a test waits for its turn, not when it runs.
    private static func note(_ time: Duration, of test: String) {
        guard let path = ProcessInfo.processInfo.environment["BGTASK_TEST_TIMES"],
            let file = fopen(path, "a")
        else { return }
        fputs("\(time / .seconds(1)) \(test)\n", file)
        fclose(file)
    }
}

extension Trait where Self == SystemTest {
    /// Marks a test that starts processes or waits for the kernel; other tests may run at the same time.
    public static var system: Self { SystemTest() }

    /// Like `system`, but the test measures the machine or its own process, so no other test may run
    /// meanwhile.
    public static var alone: Self { SystemTest() }
}
