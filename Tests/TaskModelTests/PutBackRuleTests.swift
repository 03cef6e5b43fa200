import TaskModel
import Testing

@Suite struct PutBackRuleTests {
    @Test func `only a launch that was lost, or expired without completing, goes back`() {
        for outcome in Outcome.allCases {
            for completed in [false, true] {
                let applies = PutBackRule.applies(
                    kind: .processing, outcome: outcome, completed: completed, expiration: .leaseEnded,
                    isAtMostOnce: false)
                #expect(applies == (outcome == .lost || (outcome == .expired && !completed)), "\(outcome)")
            }
        }
    }

    @Test(arguments: [Outcome.lost, .expired])
    func `what the user cancelled, what has no manifest, and at-most-once tasks stay ended`(outcome: Outcome)
    {
        for reason in Reason.allCases where reason.isExpiration {
            let applies = PutBackRule.applies(
                kind: .processing, outcome: outcome, completed: false, expiration: reason, isAtMostOnce: false
            )
            #expect(applies == (reason != .cancelledByUser && reason != .manifestRemoved), "\(reason)")
            #expect(
                !PutBackRule.applies(
                    kind: .processing, outcome: outcome, completed: false, expiration: reason,
                    isAtMostOnce: true))
        }
    }

    private static func launch(_ progress: TaskProgress? = nil, hasNewCheckpoint: Bool = false) throws
        -> LaunchRecord
    {
        let time = WallTime(milliseconds: 1)
        let submission = TaskSubmission(identifier: try TaskIdentifier("com.example.a"), origin: .client)
        let request = TaskRequest(
            id: RequestID(rawValue: 1), submission: submission, bundle: try BundleIdentifier("com.example"),
            kind: .processing, submittedAt: time, attempt: 1, notBefore: nil, deadline: time)
        var launch = LaunchRecord(
            id: LaunchID(rawValue: 1), request: request, token: 1, startedAt: time, isolation: "",
            libraryHash: nil, isSimulated: false)
        launch.progress = progress
        launch.hasNewCheckpoint = hasNewCheckpoint
        return launch
    }

    @Test func `an attempt counts if it was lost, or if it caused its expiration itself`() {
        let own: Set<Reason> = [.leaseEnded, .cpuLimit, .memoryLimit, .storageLimit, .noProgress, .pressure]
        for reason in Reason.allCases where reason.isExpiration {
            #expect(PutBackRule.counts(.expired, expiration: reason) == own.contains(reason), "\(reason)")
            #expect(PutBackRule.counts(.lost, expiration: reason))
            #expect(!PutBackRule.counts(.failed, expiration: reason))
        }
        #expect(!PutBackRule.counts(.expired, expiration: nil))
    }

    @Test func `a row of attempts ends with a new checkpoint or with further progress`() throws {
        var history = AttemptHistory()
        for count in 1...3 {
            history = history.following(try Self.launch(), counts: true)
            #expect(history == AttemptHistory(withoutProgress: count))
        }
        // An end by conditions neither adds to the number of attempts in a row nor resets it.
        #expect(history.following(try Self.launch(), counts: false).withoutProgress == 3)
        #expect(history.following(try Self.launch(hasNewCheckpoint: true), counts: true).withoutProgress == 0)

        let third = TaskProgress(completed: 3, total: 10, message: "a file")
        history = history.following(try Self.launch(third), counts: true)
        #expect(history.withoutProgress == 0)
        #expect(history.furthest == TaskProgress(completed: 3, total: 10))
        // Each attempt starts from the beginning, and stops at the same place or before it.
        for completed in [3, 2, 3] as [Int64] {
            let progress = TaskProgress(completed: completed, total: 10)
            history = history.following(try Self.launch(progress), counts: true)
        }
        #expect(history.withoutProgress == 3)
        #expect(history.furthest?.completed == 3)
        history = history.following(try Self.launch(TaskProgress(completed: 4, total: 10)), counts: true)
        #expect(history == AttemptHistory(furthest: TaskProgress(completed: 4, total: 10)))
    }

    @Test func `progress is further with more units, or with a greater share of what is left`() {
        func progress(_ completed: Int64, _ total: Int64) -> TaskProgress {
            TaskProgress(completed: completed, total: total)
        }
        #expect(!progress(0, 10).isFurther(than: nil))
        #expect(progress(1, 10).isFurther(than: nil))
        #expect(progress(1, 0).isFurther(than: nil))
        #expect(!progress(3, 10).isFurther(than: progress(3, 10)))
        #expect(progress(4, 20).isFurther(than: progress(3, 10)))
        #expect(progress(3, 7).isFurther(than: progress(3, 10)))
        #expect(!progress(3, 0).isFurther(than: progress(3, 10)))
        #expect(!progress(2, 0).isFurther(than: progress(3, 0)))
        #expect(progress(4, 0).isFurther(than: progress(3, 0)))
    }

    @Test func `the wait after a CPU limit repays what was used, and lets the window pass`() {
        let limit = CPULimit(percent: 20, window: .seconds(60))
        func wait(_ used: Int, _ elapsed: Int, isExceeded: Bool = true) -> Duration {
            PutBackRule.cpuWait(
                used: .seconds(used), within: .seconds(elapsed), limit: limit, isExceeded: isExceeded)
        }
        // 12 s of CPU time are the quota of 60 s, so the next attempt waits until 60 s after the start.
        #expect(wait(12, 12) == .seconds(48))
        // The grace period counts too.
        #expect(wait(22, 22) == .seconds(88))
        // A launch that was idle for long and then used its quota waits until the quota has left the window.
        #expect(wait(12, 3600) == .seconds(48))
        #expect(wait(12, 3600, isExceeded: false) == .zero)
        #expect(wait(2, 2, isExceeded: false) == .seconds(8))
        #expect(wait(2, 10, isExceeded: false) == .zero)
        let twoCores = CPULimit(percent: 200, window: .seconds(60))
        #expect(
            PutBackRule.cpuWait(
                used: .seconds(120), within: .seconds(30), limit: twoCores, isExceeded: true) == .seconds(30))
    }

    @Test func `the last of too many attempts says how it ended, and that it is not tried again`() {
        let end = LaunchEnd(outcome: .expired, reason: .leaseEnded).givenUp(after: 8)
        #expect(end.outcome == .failed && end.reason == .attemptsWithoutProgress)
        #expect(
            end.message
                == "This attempt and 7 earlier ones brought neither a new checkpoint nor further progress, so the host "
                + "does not try the request again. The last attempt ended with leaseEnded")
        let burned = LaunchEnd(outcome: .expired, reason: .cpuLimit, message: "48 s CPU").givenUp(after: 1)
        #expect(burned.message?.hasPrefix("This attempt brought neither") == true)
        #expect(burned.message?.hasSuffix("The last attempt ended with cpuLimit: 48 s CPU") == true)
    }

    @Test func `the launch of an app goes back, but not after its whole lease`() {
        for (outcome, reason, isExpected) in [
            (Outcome.lost, Reason.hostDied, true), (.expired, .hostShutdown, true),
            (.expired, .leaseEnded, false), (.failed, .handlerFailed, false), (.crashed, .signal, false),
        ] {
            #expect(
                PutBackRule.applies(
                    kind: .appLaunch, outcome: outcome, completed: false, expiration: reason,
                    isAtMostOnce: false) == isExpected, "\(outcome) \(reason)")
        }
    }
}
