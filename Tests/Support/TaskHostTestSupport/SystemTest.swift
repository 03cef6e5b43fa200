import Foundation
public import Testing

/// The trait of tests that start processes or wait for the kernel.
///
/// Such a test may block: it runs on a thread of its own and not in Swift's pool. `.ci/speeds.py` reads the trait in
/// the sources, so that `make test-quick` leaves these suites out, and `make test` runs several of them at a time, or
/// one after the other where they say `.alone`.
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
    /// The test starts processes or waits for the kernel; others may run beside it.
    public static var system: Self { SystemTest() }

    /// As `system`, but the test measures the machine or its own process, so that nothing else may run beside it.
    public static var alone: Self { SystemTest() }
}
