import BackgroundTasks
import BackgroundTasksTesting
import Testing

@testable import RulesApp

/// Handlers of `RulesApp` and others in the kit `BackgroundTasksTesting`: with a virtual clock and no host.
@Suite(.timeLimit(.minutes(1))) struct HandlerTests {
    private static let permitted: [String: TestApp.Kind] = {
        let names = [
            "busy", "checkpoint", "deaf", "fail", "finish", "first", "hold", "late", "lease", "leak",
            "limits", "obey",
            "second", "stubborn", "submitUnregistered", "succeed",
        ]
        var kinds = Dictionary(
            uniqueKeysWithValues: names.map { ("org.example.rules." + $0, TestApp.Kind.processing) })
        kinds["org.example.rules.export.*"] = .continuedProcessing
        return kinds
    }()

    @Test func `a launch completes with what its handler says`() async throws {
        try await withTestApp(bundle: "org.example.rules", permitting: Self.permitted) { app in
            app.start(RulesPlugin.self)
            let succeeded = try app.launch("org.example.rules.succeed")
            #expect(await succeeded.ended() == .completed(success: true))
            let failed = try app.launch("org.example.rules.fail")
            #expect(await failed.ended() == .completed(success: false))
            #expect(app.advice == [])
        }
    }

    /// What to write in place of a subscription of Combine.
    @Test func `a loop over notifications gets each, until its task is cancelled`() async throws {
        let (center, name) = (NotificationCenter(), Notification.Name("org.example.news"))
        let begun = center.notifications(named: name).makeAsyncIterator()
        center.post(name: Notification.Name("org.example.other"), object: nil)
        for number in 1...3 { center.post(name: name, object: nil, userInfo: ["number": number]) }
        var news = begun
        for number in 1...3 { #expect(await news.next()?.userInfo?["number"] as? Int == number) }
        let loop = Task {
            var count = 0
            for await _ in center.notifications(named: name) { count += 1 }
            return count
        }
        loop.cancel()
        #expect(await loop.value == 0)
    }

    @Test func `a task knows when its identifier last succeeded`() async throws {
        try await withTestApp(permitting: ["org.example.test.last": .appRefresh]) { app in
            app.finishLaunching {
                BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.test.last", using: nil) {
                    task in
                    task.checkpoint = Data("\(task.lastSuccess.map { "\($0)" } ?? "none")".utf8)
                    task.setTaskCompleted(success: task.payload == nil)
                }
            }
            func launch(failing: Bool = false) async throws -> String {
                let payload = failing ? Data("{}".utf8) : nil
                let launch = try app.launch("org.example.test.last", payload: payload)
                _ = await launch.ended()
                return String(decoding: launch.checkpoint ?? Data(), as: UTF8.self)
            }
            let first = app.now
            #expect(try await launch(failing: true) == "none")
            #expect(try await launch() == "none")
            try app.advance(by: 60)
            #expect(try await launch(failing: true) == "\(first)")
            #expect(try await launch() == "\(first)")
            #expect(try await launch() == "\(first + 60)")
        }
    }

    @Test func `a launch expires when its lease ends, and not before`() async throws {
        try await withTestApp(permitting: ["org.example.test.long": .processing]) { app in
            let (listens, listening) = AsyncStream.makeStream(of: Void.self)
            app.finishLaunching {
                BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.test.long", using: nil) {
                    task in
                    task.expirationHandler = {
                        task.setTaskCompleted(success: task.expirationReason == .leaseEnded)
                    }
                    listening.finish()
                }
            }
            let launch = try app.launch("org.example.test.long")
            for await _ in listens {}
            try app.advance(by: 599)
            #expect(!launch.hasEnded)
            try app.advance(by: 1)
            #expect(await launch.ended() == .completed(success: true))
        }
    }

    @Test func `an expiring task may end unfinished, and only then`() async throws {
        try await withTestApp(permitting: ["org.example.test.half": .processing]) { app in
            app.finishLaunching {
                BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.test.half", using: nil) {
                    task in
                    task.endUnfinished()
                    task.expirationHandler = {
                        task.endUnfinished()
                        task.setTaskCompleted(success: true)
                    }
                }
            }
            let launch = try app.launch("org.example.test.half")
            await launch.listening()
            #expect(!launch.hasEnded)
            launch.expire()
            #expect(await launch.ended() == .unfinished)
            #expect(app.log.contains { $0.contains("can't end unfinished") }, "\(app.log)")
        }
    }

    @Test func `a task that its handler lets go of still expires`() async throws {
        try await withTestApp(permitting: ["org.example.test.go": .appRefresh]) { app in
            let (heard, hearing) = AsyncStream.makeStream(of: Void.self)
            let (listens, listening) = AsyncStream.makeStream(of: Void.self)
            app.finishLaunching {
                BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.test.go", using: nil) {
                    task in
                    task.expirationHandler = { hearing.finish() }
                    listening.finish()
                }
            }
            let launch = try app.launch("org.example.test.go")
            for await _ in listens {}
            launch.expire()
            for await _ in heard {}
        }
    }

    @Test func `a launch without expiration handler ends at once when it expires`() async throws {
        try await withTestApp(permitting: ["org.example.test.deaf": .appRefresh]) { app in
            app.finishLaunching {
                BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.test.deaf", using: nil) {
                    _ in
                }
            }
            let launch = try app.launch("org.example.test.deaf")
            launch.expire(.thermal)
            #expect(await launch.ended() == .expiredUnheard)
        }
    }

    @Test func `a test can wait until a handler listens for its expiration`() async throws {
        try await withTestApp(bundle: "org.example.rules", permitting: Self.permitted) { app in
            app.start(RulesPlugin.self)
            let obeys = try app.launch("org.example.rules.obey")
            await obeys.listening()
            obeys.expire()
            #expect(await obeys.ended() == .completed(success: false))
            await obeys.listening()
            // This task has no expiration handler; it ends by itself.
            let succeeds = try app.launch("org.example.rules.succeed")
            await succeeds.listening()
            #expect(await succeeds.ended() == .completed(success: true))
        }
    }

    @Test func `requests are kept, replaced, limited, cancelled, and launched when they are due`()
        async throws
    {
        try await withTestApp(permitting: [
            "org.example.test.a": .appRefresh, "org.example.test.b": .appRefresh,
        ]) { app in
            app.finishLaunching {
                BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.test.a", using: nil) {
                    task in
                    task.setTaskCompleted(success: task.payload == Data("{}".utf8))
                }
            }
            let request = BGAppRefreshTaskRequest(identifier: "org.example.test.a")
            request.earliestBeginDate = app.now + 60
            request.payload = Data("{}".utf8)
            try BGTaskScheduler.shared.submit(request)
            try BGTaskScheduler.shared.submit(request)
            #expect(app.pending.map(\.identifier) == ["org.example.test.a"])
            do {
                try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: "org.example.test.b"))
                Issue.record("a second refresh was accepted")
            } catch BGTaskScheduler.Error.tooManyPendingTaskRequests {
            }
            #expect(try app.advance(by: 59).isEmpty)
            let launched = try app.advance(by: 1)
            #expect(launched.count == 1 && app.pending.isEmpty)
            #expect(await launched[0].ended() == .completed(success: true))
            try BGTaskScheduler.shared.submit(request)
            BGTaskScheduler.shared.cancelAllTaskRequests()
            #expect(app.pending.isEmpty)
        }
    }

    @Test func `progress, titles and cancellation of a continued task are seen`() async throws {
        try await withTestApp(permitting: ["org.example.test.export.*": .continuedProcessing]) { app in
            app.finishLaunching {
                BGTaskScheduler.shared.register(
                    forTaskWithIdentifier: "org.example.test.export.*", using: nil
                ) { task in
                    guard let task = task as? BGContinuedProcessingTask else { return }
                    task.expirationHandler = {
                        task.setTaskCompleted(success: task.progress.isCancelled)
                    }
                    task.progress.totalUnitCount = 10
                    task.progress.completedUnitCount = 4
                    task.updateTitle("Export", subtitle: "4 of 10")
                }
            }
            let launch = try app.launch("org.example.test.export.album")
            while launch.titles == nil { await Task.yield() }
            #expect(launch.progress?.completed == 4 && launch.progress?.total == 10)
            #expect(launch.titles?.subtitle == "4 of 10")
            launch.expire(.cancelledByUser)
            #expect(await launch.ended() == .completed(success: true))
        }
    }

    @Test func `children's progress is told in finer units where the parent's are few, else in its own`()
        async throws
    {
        try await withTestApp(permitting: ["org.example.test.export.*": .continuedProcessing]) { app in
            app.finishLaunching {
                BGTaskScheduler.shared.register(
                    forTaskWithIdentifier: "org.example.test.export.*", using: nil
                ) { task in
                    guard let task = task as? BGContinuedProcessingTask else { return }
                    task.progress.totalUnitCount = task.identifier.hasSuffix("few") ? 2 : 1_000_000
                    let child = Progress(totalUnitCount: 10)
                    task.progress.addChild(child, withPendingUnitCount: task.progress.totalUnitCount)
                    child.completedUnitCount = 3
                    task.setTaskCompleted(success: true)
                }
            }
            let few = try app.launch("org.example.test.export.few")
            #expect(await few.ended() == .completed(success: true))
            #expect(few.progress?.completed == 600 && few.progress?.total == 2000)
            let many = try app.launch("org.example.test.export.many")
            #expect(await many.ended() == .completed(success: true))
            #expect(many.progress?.completed == 300_000 && many.progress?.total == 1_000_000)
        }
    }

    @Test func `a title that is empty or too long is refused by name, in a sentence`() async {
        await withTestApp(permitting: ["org.example.test.export.*": .continuedProcessing]) { app in
            let identifier = "org.example.test.export.album"
            func refusal(_ title: String, _ subtitle: String = "") -> String? {
                let request = BGContinuedProcessingTaskRequest(
                    identifier: identifier, title: title, subtitle: subtitle)
                do {
                    try BGTaskScheduler.shared.submit(request)
                    return nil
                } catch {
                    #expect(error.localizedDescription + " [notPermitted]" == "\(error)")
                    return error.localizedDescription
                }
            }
            let long = String(repeating: "x", count: 1024)
            let empty = "\(identifier): its title is empty. Give it the title that the user sees."
            #expect(refusal("") == empty && refusal(" \n") == empty)
            for (problem, name) in [(refusal(long + "x"), "title"), (refusal("a", long + "x"), "subtitle")] {
                #expect(
                    problem
                        == "\(identifier): its \(name) has 1025 bytes; the limit is 1024. Give it a shorter "
                        + "\(name).")
            }
            #expect(app.pending.isEmpty)
            #expect(refusal(long, long) == nil && refusal("a") == nil)
        }
    }

    @Test func `a begin date more than a week ahead is kept, with advice`() async throws {
        try await withTestApp(permitting: ["org.example.test.a": .appRefresh]) { app in
            let request = BGAppRefreshTaskRequest(identifier: "org.example.test.a")
            request.earliestBeginDate = app.now + 7 * 86_400
            try BGTaskScheduler.shared.submit(request)
            #expect(app.advice == [])
            request.earliestBeginDate = app.now + 7 * 86_400 + 1
            try BGTaskScheduler.shared.submit(request)
            #expect(
                app.advice.count == 1 && app.advice[0].contains("more than 7 days ahead"), "\(app.advice)")
            #expect(app.pending.map(\.earliestBeginDate) == [request.earliestBeginDate])
        }
    }

    @Test func `what is not permitted is refused by register, submit and launch`() async throws {
        await withTestApp(permitting: ["org.example.test.a": .appRefresh]) { app in
            app.finishLaunching {
                let registered = BGTaskScheduler.shared.register(
                    forTaskWithIdentifier: "org.example.test.other", using: nil
                ) { _ in }
                #expect(!registered)
            }
            #expect(app.advice.count == 2, "not permitted, and one without handler: \(app.advice)")
            #expect(!app.advice.contains { $0.contains("no launch handler at all") }, "\(app.advice)")
            #expect(throws: BGTaskScheduler.Error.self) {
                try BGTaskScheduler.shared.submit(
                    BGAppRefreshTaskRequest(identifier: "org.example.test.other"))
            }
            #expect(throws: TestApp.Failure.self) { try app.launch("org.example.test.other") }
            #expect(throws: TestApp.Failure.self) { try app.launch("org.example.test.a") }
        }
    }

    @Test func `continued tasks alone need no handler while the app launches`() async {
        let kinds: [String: TestApp.Kind] = [
            "org.example.test.export.*": .continuedProcessing, "org.example.test.scan": .continuedProcessing,
        ]
        await withTestApp(permitting: kinds) { app in
            app.finishLaunching {}
            #expect(app.advice == [])
        }
    }

    @Test func `an activity runs in its window, and is scheduled again`() async throws {
        try await withTestApp(permitting: ["org.example.test.tidy": .activity]) { app in
            let scheduler = NSBackgroundActivityScheduler(identifier: "org.example.test.tidy")
            scheduler.interval = 3600
            scheduler.tolerance = 600
            scheduler.repeats = true
            app.finishLaunching {
                scheduler.schedule { completion in completion(scheduler.shouldDefer ? .deferred : .finished) }
            }
            let launch = try app.launch("org.example.test.tidy")
            #expect(await launch.ended() == .completed(success: true))
            let next = try #require(app.pending.first)
            #expect(next.earliestBeginDate == app.now + 3000)
        }
    }

    @Test func `code hears of low power and heat`() async throws {
        await withTestApp(permitting: [:]) { app in
            #expect(!ProcessInfo.processInfo.isLowPowerModeEnabled)
            await confirmation("both notifications", expectedCount: 2) { heard in
                let center = NotificationCenter.default
                let observers = [
                    Notification.Name.NSProcessInfoPowerStateDidChange,
                    ProcessInfo.thermalStateDidChangeNotification,
                ].map { center.addObserver(forName: $0, object: nil, queue: nil) { _ in heard() } }
                app.setConditions(lowPowerMode: true, thermalState: .serious)
                for observer in observers { center.removeObserver(observer) }
            }
            #expect(ProcessInfo.processInfo.isLowPowerModeEnabled)
            #expect(ProcessInfo.processInfo.thermalState == .serious)
            #expect(BGTaskScheduler.supportedResources == [])
            app.setConditions(offersGPU: true)
            #expect(BGTaskScheduler.supportedResources == .gpu)
        }
    }

    @Test func `what nothing of the host's numbers fits is an unknown error code`() {
        #expect(BGTaskScheduler.Error.Code(rawValue: 5) == nil)
        let error = BGTaskScheduler.Error(.notPermitted, userInfo: [NSLocalizedDescriptionKey: "why"])
        #expect((error as NSError).domain == BGTaskScheduler.errorDomain && (error as NSError).code == 3)
        #expect((error as NSError).localizedDescription == "why")
        #expect(Set([error, error]).count == 1)
    }
}
