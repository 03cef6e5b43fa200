import RequestStore
import TaskHostTestSupport
import TaskModel
import Testing

/// The behaviour that every store must have for launches, their ends, and the launches that a dead host left
/// open.
@Suite struct LaunchConformanceTests {
    @Test(arguments: StoreUnderTest.allCases)
    func `a launch consumes its request and keeps what it was started with`(kind: StoreUnderTest) async throws
    {
        try await kind.with { store in
            let request = try await store.accept(submission()).request
            let launch = try await store.beginLaunch(
                of: request.id, at: later, isolation: "cgroup", libraryHash: "abc", isSimulated: true,
                explanation: "[]")
            #expect(launch.request == request.id)
            #expect(launch.state == .starting)
            #expect(launch.startedAt == later)
            #expect(launch.attempt == 1)
            #expect(launch.libraryHash == "abc")
            #expect(launch.isSimulated)
            #expect(launch.explanation == "[]")
            #expect(try await store.launch(launch.id) == launch)
            #expect(try await store.pendingRequests().isEmpty)
            #expect(try await store.request(request.id)?.state == .launched)
            let error = await #expect(throws: StoreError.self) { try await store.begin(request.id) }
            #expect(error?.code == .notPending)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a launch becomes running and expiring, and the first reason stays`(kind: StoreUnderTest)
        async throws
    {
        try await kind.with { store in
            let launch = try await store.begin(store.accept(submission()).request.id)
            try await store.markReady(launch.id, at: later)
            #expect(try await store.launch(launch.id)?.state == .running)
            #expect(try await store.launch(launch.id)?.readyAt == later)
            try await store.markExpiring(launch.id, reason: .leaseEnded)
            try await store.markExpiring(launch.id, reason: .thermal)
            #expect(try await store.launch(launch.id)?.state == .expiring)
            #expect(try await store.launch(launch.id)?.expiration == .leaseEnded)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an end's title is the launch's and its request's, and a later end changes nothing`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            var submitted = try submission()
            (submitted.title, submitted.subtitle) = ("first", "of all")
            submitted.deadline = later
            let request = try await store.accept(submitted).request
            #expect(request.submission.deadline == nil, "the request has its own")
            #expect(try await store.pendingRequests() == [request])
            let launch = try await store.begin(request.id)
            #expect(launch.title == "first" && launch.subtitle == "of all")
            let again = try await store.end(
                launch.id, .expired, .leaseEnded, title: LaunchTitle(title: "second", subtitle: ""),
                putBack: PutBack(notBefore: nil))
            #expect(again?.submission.title == "second" && again?.submission.subtitle == "")
            let ended = try await store.launch(launch.id)
            #expect(ended?.title == "second" && ended?.subtitle == "")
            try await store.end(launch.id, title: LaunchTitle(title: "too late", subtitle: ""))
            #expect(try await store.launch(launch.id)?.title == "second")
            #expect(try await store.pendingRequests().first?.submission.title == "second")

            let next = try await store.begin(request.id)
            #expect(next.title == "second")
            try await store.end(next.id)
            #expect(try await store.launch(next.id)?.title == "second", "no title keeps what is stored")
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an end is recorded whole, ends the request, and a second end changes nothing`(kind: StoreUnderTest)
        async throws
    {
        try await kind.with { store in
            let request = try await store.accept(submission()).request
            let launch = try await store.begin(request.id)
            var end = LaunchEnd(outcome: .killed, reason: .leaseEnded, message: "late\u{1B}[0m")
            end.signal = 9
            end.exitStatus = 137
            end.phase = .run
            end.code = 0x8BAD_F00D
            end.leftovers = 3
            var report = TerminationReport()
            report.limits = [.init("memory", limit: "64 MiB", used: "65 MiB")]
            report.faultAddress = "0x10"
            report.threads = [
                .init(
                    number: 4711, name: "a\u{0}b", isFatal: true, cpuSeconds: 0.25, state: "sleeping",
                    systemCall: "futex", waitChannel: nil, frames: ["run+0x1  libA.so"])
            ]
            report.assertions = [.init(name: "flush", ageSeconds: 1.5, frames: [])]
            report.lastProgress = .init(TaskProgress(completed: 1, total: 2, message: nil), ageSeconds: 3)
            report.stall = .init(seconds: 60, cpuSeconds: 0.5, unitsPerMinute: 4, waitsIn: "futex")
            report.notes = ["a note"]
            end.termination = report
            end.calls = ObservedCalls(
                calls: [.init(name: "openat", subject: "/etc/é", use: .read, isRefused: true, count: 3)],
                further: 2, isComplete: true)
            // These two values decide whether the request is put back; the store does not keep them.
            end.completion = false
            end.neverListened = true
            let progress = TaskProgress(completed: 3, total: 10, message: "m")
            let again = try await store.endLaunch(
                launch.id, end, at: later, cpuTime: .nanoseconds(1_234_567_891), cpuIsLowerBound: true,
                peakMemory: .mebibytes(5),
                network: NetworkBytes(received: .kibibytes(7), sent: ByteCount(bytes: 3)), progress: progress,
                putBack: nil)
            #expect(again == nil)
            #expect(try await store.end(launch.id, .succeeded, putBack: PutBack(notBefore: nil)) == nil)

            let record = try #require(await store.launch(launch.id))
            #expect(record.state == .ended)
            end.completion = nil
            end.neverListened = false
            #expect(record.end == end)
            #expect(record.endedAt == later)
            #expect(record.cpuTime == .nanoseconds(1_234_567_891))
            #expect(record.cpuIsLowerBound)
            #expect(record.peakMemory == .mebibytes(5))
            #expect(record.network == NetworkBytes(received: .kibibytes(7), sent: ByteCount(bytes: 3)))
            #expect(record.progress == progress)
            let done = try #require(await store.request(request.id))
            #expect(done.state == .done)
            #expect(done.outcome == .killed)
            #expect(done.reason == .leaseEnded)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a put-back request is the same one with the next attempt, its checkpoint and its back-off`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            let request = try await store.accept(submission(key: "k")).request
            let first = try await store.begin(request.id)
            #expect(try await store.saveCheckpoint(first.id, [1, 2]))
            #expect(try await store.saveCheckpoint(first.id, [0, 255]))
            let history = AttemptHistory(
                withoutProgress: 3, furthest: TaskProgress(completed: 5, total: 0))
            let ended = now + .microseconds(1_500_600)
            let back = try #require(
                await store.end(
                    first.id, .expired, .leaseEnded, at: ended,
                    putBack: PutBack(notBefore: later, attempts: history)))
            #expect(back.id == request.id)
            #expect(back.attempt == 2)
            #expect(back.notBefore == later)
            #expect(request.waitingSince == request.submittedAt)
            #expect(back.waitingSince == ended.rounded)
            #expect(back.attempts == history)
            #expect(try await store.pendingRequests() == [back])
            #expect(try await !store.saveCheckpoint(first.id, [9]), "an ended launch writes no checkpoint")
            #expect(try await store.checkpoint(of: request.id) == [0, 255])

            let second = try await store.begin(request.id)
            #expect(second.attempt == 2)
            #expect(second.token > first.token)
            try await store.end(second.id)
            #expect(try await store.checkpoint(of: request.id) == nil)
            #expect(try await store.launches(of: request.id).map(\.id) == [first.id, second.id])
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a checkpoint is new if it differs from the one that the launch began with`(kind: StoreUnderTest)
        async throws
    {
        try await kind.with { store in
            let request = try await store.accept(submission()).request
            func isNew(_ checkpoints: [UInt8]...) async throws -> Bool? {
                let launch = try await store.begin(request.id).id
                for bytes in checkpoints { #expect(try await store.saveCheckpoint(launch, bytes)) }
                try await store.end(launch, .expired, .leaseEnded, putBack: PutBack(notBefore: nil))
                return try await store.launch(launch)?.hasNewCheckpoint
            }
            #expect(try await isNew() == false)
            #expect(try await isNew([1]) == true)
            #expect(try await isNew([1]) == false)
            #expect(try await isNew([1], [2]) == true)
            // An empty checkpoint only deletes what was saved.
            #expect(try await isNew([]) == false)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a request whose host dies in each attempt without progress fails at the limit`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            let request = try await store.accept(submission()).request
            func die(_ change: (LaunchID) async throws -> Void = { _ in }) async throws -> Recovery {
                let launch = try await store.begin(request.id).id
                try await change(launch)
                return try await store.recover(RecoveryTerms(at: later, attemptLimit: 2))
            }
            #expect(try await die().putBack.map(\.attempts.withoutProgress) == [1])
            let further = try await die { launch in
                store.note(
                    .progress(TaskProgress(completed: 1, total: 4)), of: launch,
                    at: Moment(boot: .zero, monotonic: .seconds(9), wall: now))
            }
            let expected = AttemptHistory(furthest: TaskProgress(completed: 1, total: 4))
            #expect(further.putBack.map(\.attempts) == [expected])
            #expect(try await die().putBack.map(\.attempts.withoutProgress) == [1])
            let last = try await die()
            #expect(last.putBack.isEmpty && last.pending.isEmpty)
            #expect(last.lost.map(\.end?.outcome) == [.failed])
            #expect(last.lost.map(\.end?.reason) == [.attemptsWithoutProgress])
            let record = try await store.request(request.id)
            #expect(record?.outcome == .failed && record?.reason == .attemptsWithoutProgress)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a request is not put back over a newer pending one of its identifier`(kind: StoreUnderTest)
        async throws
    {
        try await kind.with { store in
            let old = try await store.accept(submission()).request
            let launch = try await store.begin(old.id)
            let newer = try await store.accept(submission()).request
            #expect(
                try await store.end(launch.id, .lost, .launcherDied, putBack: PutBack(notBefore: nil)) == nil)
            #expect(try await store.pendingRequests() == [newer])
            #expect(try await store.request(old.id)?.outcome == .lost)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `recovery knows which dates of schedules a user cancelled`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            func cancel(_ name: String, _ reason: Reason, origin: RequestOrigin = .schedule) async throws {
                var asked = try submission("com.example.\(name)", origin: origin)
                asked.earliestBeginDate = later + .seconds(3600)
                let request = try await store.accept(asked).request
                #expect(try await store.cancelPending(request.id, at: later, reason: reason))
            }
            try await cancel("night", .cancelledByUser)
            try await cancel("gone", .manifestRemoved)
            try await cancel("client", .cancelledByUser, origin: .client)
            try await cancel("launched", .cancelledByUser)
            _ = try await store.beginLaunch(
                of: store.accept(submission("com.example.launched")).request.id, at: later + .seconds(1),
                isolation: "none", libraryHash: nil, isSimulated: false, explanation: nil)
            let terms = RecoveryTerms(
                at: later + .seconds(60),
                scheduled: try ["night", "gone", "client", "launched"].map {
                    try TaskIdentifier("com.example.\($0)")
                })
            #expect(
                try await store.recover(terms).skipped.map(\.identifier.rawValue) == ["com.example.night"])
            var after = terms
            after.at = later + .seconds(7200)
            #expect(try await store.recover(after).skipped.isEmpty, "its date is over")
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `recovery ends open launches as lost and puts requests back by the rule, once`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            var launches: [String: LaunchRecord] = [:]
            for name in ["back", "once", "user", "removed", "replaced", "lease"] {
                launches[name] = try await store.begin(
                    store.accept(submission("com.example.\(name)")).request.id)
            }
            let finished = try await store.begin(store.accept(submission("com.example.finished")).request.id)
            try await store.end(finished.id)
            let waiting = try await store.accept(submission("com.example.waiting")).request
            try await store.markExpiring(#require(launches["user"]).id, reason: .cancelledByUser)
            try await store.markExpiring(#require(launches["removed"]).id, reason: .manifestRemoved)
            try await store.markExpiring(#require(launches["lease"]).id, reason: .leaseEnded)
            let newer = try await store.accept(submission("com.example.replaced")).request
            _ = try await store.saveCheckpoint(#require(launches["back"]).id, [7])

            await store.remember(.boot("b"))
            let scheduled = try ["com.example.back", "com.example.waiting"].map(TaskIdentifier.init)
            let recovery = try await store.recover(
                RecoveryTerms(
                    at: later,
                    isAtMostOnce: { bundle, task in
                        bundle.rawValue == "com.example" && task.rawValue == "com.example.once"
                    },
                    backOff: { launch, _ in
                        launch.identifier.rawValue == "com.example.back" ? later : nil
                    },
                    scheduled: scheduled))

            #expect(recovery.lost.count == 6)
            #expect(recovery.lost.allSatisfy { $0.end?.outcome == .lost && $0.end?.reason == .hostDied })
            #expect(
                recovery.lost.allSatisfy { $0.endedAt == later && $0.cpuIsLowerBound && $0.state == .ended })
            #expect(recovery.putBack.map(\.identifier.rawValue) == ["com.example.back", "com.example.lease"])
            #expect(recovery.putBack.map(\.attempt) == [2, 2])
            #expect(recovery.putBack.map(\.notBefore) == [later, nil])
            #expect(recovery.putBack.map(\.waitingSince) == [later, later])
            // The launch of the first request had saved a checkpoint, which counts as progress.
            #expect(recovery.putBack.map(\.attempts.withoutProgress) == [0, 1])
            #expect(recovery.pending == (try await store.pendingRequests()))
            #expect(
                Set(recovery.pending.map(\.id)) == Set(recovery.putBack.map(\.id) + [waiting.id, newer.id]))
            #expect(try await store.checkpoint(of: recovery.putBack[0].id) == [7])
            #expect(try await store.launch(finished.id)?.end?.outcome == .succeeded)

            #expect(recovery.lastLaunches == [scheduled[0]: try #require(launches["back"]).startedAt])
            #expect(recovery.facts.boot == "b")
            #expect(recovery.facts == (try await store.facts()))

            var second = recovery
            (second.lost, second.putBack, second.lastLaunches) = ([], [], [:])
            #expect(try await store.recover(RecoveryTerms(at: later)) == second)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `readers see the newest notes, and an ended launch takes none`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let clock = VirtualMoments()
            let launch = try await store.begin(store.accept(submission()).request.id)
            for count in 1...1000 {
                store.note(
                    .progress(TaskProgress(completed: Int64(count), total: 1000)), of: launch.id,
                    at: clock.now())
            }
            store.note(.ready(at: later), of: launch.id, at: clock.now())
            store.note(.ready(at: later + .seconds(1)), of: launch.id, at: clock.now())
            for note in [0, 1] {
                let seen = try #require(await store.launch(launch.id))
                #expect(seen.progress?.completed == 1000)
                #expect(seen.readyAt == later, "the first time stays")
                #expect(seen.state == .running)
                #expect(try await store.launches(identifier: nil, limit: 1, before: nil) == [seen])
                #expect(
                    try await store.launchSummaries(.all, limit: 1, before: nil)
                        == [LaunchSummary(seen)])
                #expect(try await store.launches(of: launch.request) == [seen])
                // After the first round, a commit writes the notes, so the second round reads written ones.
                if note == 0 { await store.remember(.boot("carry the notes")) }
            }
            try await store.end(launch.id)
            store.note(.progress(TaskProgress(completed: 1, total: 1)), of: launch.id, at: clock.now())
            await store.remember(.boot("carry the progress"))
            #expect(try await store.launch(launch.id)?.progress?.completed == 1000)
            #expect(try await store.launch(launch.id)?.state == .ended)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a launch that is told to stop before it is ready is ready and expiring`(kind: StoreUnderTest)
        async throws
    {
        try await kind.with { store in
            let launch = try await store.begin(store.accept(submission()).request.id)
            try await store.markExpiring(launch.id, reason: .thermal, explanation: "{}")
            store.note(.ready(at: later), of: launch.id, at: VirtualMoments().now())
            await store.remember(.boot("carry the note"))
            let record = try #require(await store.launch(launch.id))
            #expect(record.state == .expiring)
            #expect(record.readyAt == later)
            #expect(record.stopExplanation == "{}")
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a begin answers with what earlier launches left`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let terms = LaunchTerms(
                at: now, isolation: "cgroup", libraryHash: nil, isSimulated: false, explanation: nil)
            func begin(_ request: RequestID) async throws -> BegunLaunch? {
                if case .begun(let begun) = try await store.commit([.begin(request, terms)])[0].get() {
                    begun
                } else {
                    nil
                }
            }
            let first = try await store.accept(submission()).request.id
            let launch = try #require(try await begin(first))
            #expect(launch.checkpoint == nil)
            #expect(launch.lastSuccess == nil)
            #expect(try await store.launch(launch.record.id) == launch.record)
            try await store.saveCheckpoint(launch.record.id, [1, 2, 3])
            try await store.end(launch.record.id, .lost, .launcherDied, putBack: PutBack(notBefore: nil))
            let second = try #require(try await begin(first))
            #expect(second.checkpoint == [1, 2, 3])
            try await store.end(second.record.id, at: later)
            let third = try #require(try await begin(store.accept(submission()).request.id))
            #expect(third.checkpoint == nil)
            #expect(third.lastSuccess == later)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `writes of one commit see each other, and one that is refused does not refuse the others`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            let terms = RequestTerms(
                bundle: try BundleIdentifier("com.example"), kind: .processing, acceptedAt: now,
                deadline: deadline, pendingLimit: 1)
            let launch = LaunchTerms(
                at: now, isolation: "cgroup", libraryHash: nil, isSimulated: false, explanation: nil)
            let first = try await store.accept(submission("com.example.a")).request
            let answers = try await store.commit([
                .begin(first.id, launch),
                .begin(first.id, launch),
                .accept(submission("com.example.b"), terms),
                .accept(submission("com.example.c"), terms),
                .accept(submission("com.example.b"), terms),
                .cancel(first.id, .cancelledByUser, at: now),
                .remember(.boot("1")),
                .remember(.boot("2")),
            ])
            #expect(answers.count == 8)
            guard case .success(.begun(let begun)) = answers[0],
                case .failure(.store(let twice)) = answers[1],
                case .success(.accepted(let second)) = answers[2],
                case .failure(.submission(let refused)) = answers[3],
                case .success(.accepted(let third)) = answers[4]
            else {
                Issue.record("\(answers)")
                return
            }
            #expect(begun.record.request == first.id)
            #expect(twice.code == .notPending)
            #expect(refused.code == .tooManyPendingTaskRequests)
            #expect(third.replaced == second.request)
            #expect(answers[5] == .success(.cancelled(false)))
            #expect(answers[6...] == [.success(.done), .success(.done)])
            #expect(try await store.pendingRequests() == [third.request])
            #expect(try await store.launch(begun.record.id) == begun.record)
            #expect(try await store.facts().boot == "2")
            #expect(await store.commit([]) == [])
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `the last success is the newest one, and survives pruning`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let task = try TaskIdentifier("com.example.a")
            #expect(try await store.lastSuccess(of: task) == nil)
            for (outcome, time) in [
                (Outcome.succeeded, now), (.succeeded, later), (.failed, later + .seconds(1)),
            ] {
                try await store.end(store.begin(store.accept(submission()).request.id).id, outcome, at: time)
            }
            #expect(try await store.lastSuccess(of: task) == later)
            try await store.prune(keepingNewest: 0, olderThan: later + .seconds(100))
            #expect(try await store.lastSuccess(of: task) == later)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `listings go from new to old, page by page, for one task or all`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            var ids: [LaunchID] = []
            for index in 0..<7 {
                let request = try await store.accept(submission("com.example.t\(index % 2)")).request
                let launch = try await store.begin(request.id)
                try await store.end(launch.id)
                ids.append(launch.id)
            }
            let first = try await store.launches(identifier: nil, limit: 4, before: nil).map(\.id)
            #expect(first == Array(ids.reversed().prefix(4)))
            let rest = try await store.launches(identifier: nil, limit: 10, before: first.last).map(\.id)
            #expect(first + rest == Array(ids.reversed()))
            let odd = try await store.launches(
                identifier: TaskIdentifier("com.example.t1"), limit: 10, before: nil)
            #expect(odd.map(\.id) == [ids[5], ids[3], ids[1]])
            #expect(try await store.launches(identifier: nil, limit: 0, before: nil).isEmpty)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `summaries say what the records say`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let clock = VirtualMoments()
            for index in 0..<6 {
                var wish = try submission("com.example.t\(index % 3)")
                wish.tags = try [Tag("even"), Tag("all")].suffix(index % 2 == 0 ? 2 : 1)
                let launch = try await store.begin(store.accept(wish).request.id)
                let progress = TaskProgress(completed: 3, total: 9, message: index == 2 ? "a\u{0}b" : nil)
                if index % 2 == 0 { store.note(.progress(progress), of: launch.id, at: clock.now()) }
                // The first launch of each task ends; of the others, one is asked to stop.
                if index == 1 { try await store.end(launch.id, .failed, .memoryLimit) }
                if index == 0 || index == 2 { try await store.end(launch.id) }
                if index == 4 { try await store.markExpiring(launch.id, reason: .leaseEnded) }
            }
            let all = try await store.launchSummaries(.all, limit: 9, before: nil)
            let ids = [nil, try TaskIdentifier("com.example.t1")]
            let tags = [nil, try Tag("even")]
            let bundles = [nil, try BundleIdentifier("com.example"), try BundleIdentifier("com.other")]
            let dates = [nil, all[3].startedAt, clock.now().wall + .seconds(1)]
            for identifier in ids {
                for tag in tags {
                    for bundle in bundles {
                        for outcome in [nil, Outcome.succeeded] {
                            for since in dates {
                                let filter = LaunchFilter(
                                    identifier: identifier, bundle: bundle, tag: tag, outcome: outcome,
                                    since: since)
                                try await Self.check(filter, store, all)
                            }
                        }
                    }
                }
            }
            #expect(
                all.count == 6 && all.map(\.reason).contains(.leaseEnded)
                    && all.map(\.reason).contains(.memoryLimit))
        }
    }

    /// Checks that records and summaries of a filter are the same part of all launches.
    private static func check(
        _ filter: LaunchFilter, _ store: any RequestStore, _ all: [LaunchSummary]
    ) async throws {
        for before in [nil, LaunchID(rawValue: 5)] {
            let records = try await store.launches(filter, limit: 4, before: before)
            let summaries = try await store.launchSummaries(filter, limit: 4, before: before)
            #expect(summaries == records.map(LaunchSummary.init))
            let every = try await store.launches(.all, limit: 9, before: before)
            #expect(every.count == (before == nil ? all.count : 4))
            #expect(records == Array(every.filter(filter.selects).prefix(4)))
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `pruning keeps the newest, the young and the open, and no number or token is used again`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            var launches: [LaunchRecord] = []
            for index in 0..<6 {
                let launch = try await store.begin(store.accept(submission(key: "k\(index)")).request.id)
                // The second launch ended recently, although it is not among the newest; the third is still
                // running.
                if index != 2 { try await store.end(launch.id, at: index == 1 ? later + .seconds(1) : now) }
                launches.append(launch)
            }
            let cancelled = try await store.accept(submission("com.example.gone")).request
            _ = try await store.cancelPending(cancelled.id, at: now)

            let forgotten = try await store.prune(keepingNewest: 2, olderThan: later)

            let left = try await store.launches(identifier: nil, limit: 100, before: nil).map(\.id)
            #expect(left == [5, 4, 2, 1].map { launches[$0].id })
            #expect(forgotten == 5, "two launches, their requests, and the cancelled one")
            #expect(try await store.request(cancelled.id) == nil)
            #expect(try await store.request(launches[4].request) != nil)
            let fresh = try await store.accept(submission("com.example.b", key: "k0"))
            #expect(!fresh.isRepeat)

            for launch in launches { try await store.end(launch.id) }
            try await store.prune(keepingNewest: 0, olderThan: later + .seconds(100))
            #expect(try await store.launches(identifier: nil, limit: 100, before: nil).isEmpty)
            let next = try await store.begin(fresh.request.id)
            #expect(next.id > launches[5].id)
            #expect(next.token > launches[5].token)
            #expect(fresh.request.id > cancelled.id)
        }
    }
}
