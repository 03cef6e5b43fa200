import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

@Suite struct AdmissionTests {
    static func refusal(
        _ rig: SchedulerRig, _ name: String, _ origin: RequestOrigin = .client,
        _ change: (inout TaskSubmission) -> Void = { _ in }
    ) -> SubmissionError? {
        var submission = TaskSubmission(identifier: .sample(name), origin: origin)
        change(&submission)
        do {
            _ = try rig.scheduler.admit(submission, at: rig.now)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a permitted submission gets bundle, kind, limit and a deadline seven days on`() throws {
        let rig = SchedulerRig()
        var submission = TaskSubmission(identifier: .sample("p1"), origin: .client)
        submission.earliestBeginDate = rig.now.wall + .seconds(3600)
        let admission = try rig.scheduler.admit(submission, at: rig.now)
        #expect(admission.bundle == .sample)
        #expect(admission.kind == .processing)
        #expect(admission.pendingLimit == 10)
        #expect(admission.deadline == rig.now.wall + .seconds(3600 + 7 * 86_400))
    }

    @Test func `an identifier that no manifest permits is refused`() {
        let error = Self.refusal(SchedulerRig(), "com.example.z.p1")
        #expect(
            error?.description
                == "com.example.z.p1: no manifest permits it. Add it to a manifest, or check the name: bgtask plugins. [notPermitted]"
        )
    }

    @Test func `a simulated launch is admitted past the refresh switch and the limits, not past permissions`()
    {
        let rig = SchedulerRig([
            .make("com.example.a") {
                $0.tasks.append(
                    TaskDeclaration(pattern: try! IdentifierPattern("com.example.a.other"), kind: .appRefresh)
                )
            }
        ])
        rig.submit("other") { $0.earliestBeginDate = rig.now.wall + .seconds(60) }
        #expect(Self.refusal(rig, "refresh")?.code == .tooManyPendingTaskRequests)
        #expect(Self.refusal(rig, "refresh", .simulated) == nil)
        rig.send(.refreshSwitched(.sample, .denied))
        #expect(Self.refusal(rig, "other")?.code == .unavailable)
        #expect(Self.refusal(rig, "other", .simulated) == nil)
        #expect(Self.refusal(rig, "nobody", .simulated)?.code == .notPermitted)
    }

    @Test func `a request of another kind than the manifest's is refused with both and the remedy`() {
        let rig = SchedulerRig()
        let error = Self.refusal(rig, "refresh", .handler) { $0.kind = .processing }
        #expect(error?.code == .notPermitted)
        #expect(
            error?.finding
                == "this is a request of the kind processing (BGProcessingTaskRequest), and the manifest of com.example.a "
                + "permits the identifier as appRefresh (BGAppRefreshTaskRequest)")
        #expect(
            error?.remedy
                == "Submit a request of the kind appRefresh, or change the manifest: 'kind: processing'")
        #expect(Self.refusal(rig, "refresh", .handler) { $0.kind = .appRefresh } == nil)
        // A submission of a C plugin or the command line may name no kind; it then gets the kind of the
        // manifest.
        #expect(Self.refusal(rig, "refresh", .handler) == nil)
    }

    @Test func `a push of priority 5 does not take the place of a waiting one of priority 10`() {
        let rig = SchedulerRig([PolicyTests.push])
        rig.change { $0.thermal = .known(.critical) }
        rig.submit("push")
        #expect(Self.refusal(rig, "push") == nil)
        #expect(Self.refusal(rig, "push") { $0.pushPriority = .immediate } == nil)
        let urgent = rig.submit("push") { $0.pushPriority = .immediate }
        #expect(Self.refusal(rig, "push") { $0.pushPriority = .immediate } == nil)
        let error = Self.refusal(rig, "push")
        #expect(error?.code == .tooManyPendingTaskRequests)
        #expect(
            error?.finding
                == "\(urgent), a push of priority 10, waits, and one of priority 5 does not take its place")
    }

    @Test func `a kind whose mode is missing is refused, one that needs none is not`() {
        let rig = SchedulerRig([.make("com.example.a") { $0.modes = [.fetch] }])
        #expect(Self.refusal(rig, "p1")?.code == .notPermitted)
        #expect(Self.refusal(rig, "refresh") == nil)
        #expect(Self.refusal(rig, "export.film") == nil)
    }

    @Test(arguments: [RequestOrigin.handler, .schedule])
    func `a continued task is a user's act`(origin: RequestOrigin) {
        #expect(Self.refusal(SchedulerRig(), "export.film", origin)?.code == .notPermitted)
    }

    @Test func `ten processing requests may be pending, and the eleventh replaces or is refused`() {
        let names = (1...11).map { "com.example.b.p\($0)" }
        let rig = SchedulerRig([
            .make("com.example.b") {
                $0.tasks = names.map {
                    TaskDeclaration(pattern: try! IdentifierPattern($0), kind: .processing)
                }
            }
        ])
        let later = rig.now.wall + .seconds(3600)
        for name in names.prefix(9) { rig.submit(name) { $0.earliestBeginDate = later } }
        #expect(Self.refusal(rig, names[10]) == nil)
        rig.submit(names[9]) { $0.earliestBeginDate = later }
        #expect(Self.refusal(rig, names[10])?.code == .tooManyPendingTaskRequests)
        #expect(Self.refusal(rig, names[9]) == nil)
        #expect(Self.refusal(rig, names[10], .schedule) == nil)
    }

    @Test func `a schedule's request does not count, a client's refresh does`() {
        let rig = SchedulerRig([
            .make("com.example.a") {
                $0.tasks.append(
                    TaskDeclaration(pattern: try! IdentifierPattern("com.example.a.other"), kind: .appRefresh)
                )
            }.scheduling("refresh", every: .seconds(3600))
        ])
        var scheduled = TaskSubmission(identifier: .sample("refresh"), origin: .schedule)
        scheduled.earliestBeginDate = rig.now.wall + .seconds(60)
        rig.store(scheduled)
        #expect(Self.refusal(rig, "other") == nil)
        rig.submit("other") { $0.earliestBeginDate = rig.now.wall + .seconds(60) }
        #expect(Self.refusal(rig, "refresh")?.code == .tooManyPendingTaskRequests)
    }

    @Test func `strategy fail is refused where the launch can't start now, queue waits`() {
        let rig = SchedulerRig()
        #expect(Self.refusal(rig, "export.d") { $0.strategy = .fail } == nil)
        for name in ["a", "b", "c"] { _ = rig.run("export.\(name)") }
        let error = Self.refusal(rig, "export.d") { $0.strategy = .fail }
        #expect(error?.code == .immediateRunIneligible)
        #expect(
            error?.finding
                == "it has the strategy 'fail', and the policy Concurrency does not let it start now. The number of running continued launches is 3; it must be less than 3"
        )
        #expect(Self.refusal(rig, "export.d") == nil)
    }

    @Test func `a GPU that is not offered is refused at once`() {
        let rig = SchedulerRig()
        #expect(Self.refusal(rig, "export.d") { $0.requiresGPU = true }?.code == .notPermitted)
        rig.change { $0.gpu = .known(true) }
        #expect(Self.refusal(rig, "export.d") { $0.requiresGPU = true } == nil)
    }

    @Test func `a GPU that the manifest does not grant is refused, and told what to add`() {
        let rig = SchedulerRig([.make("com.example.a") { $0.sandbox.gpu = nil }])
        rig.change { $0.gpu = .known(true) }
        let error = Self.refusal(rig, "export.d") { $0.requiresGPU = true }
        #expect(error?.code == .notPermitted)
        #expect(error?.remedy == "Add to the manifest: sandbox: {gpu: true}")
        #expect(Self.refusal(rig, "export.d") == nil)
    }

    @Test func `a stopping host takes nothing`() {
        let rig = SchedulerRig()
        rig.send(.shutdown)
        #expect(Self.refusal(rig, "p1")?.code == .unavailable)
    }

    @Test func `an exact identifier wins over a wildcard, a longer wildcard over a shorter`() throws {
        let rig = SchedulerRig([
            .make("com.example.a") {
                $0.tasks = [
                    TaskDeclaration(pattern: try! IdentifierPattern("com.example.a.x.*"), kind: .processing),
                    TaskDeclaration(
                        pattern: try! IdentifierPattern("com.example.a.x.y.*"), kind: .appRefresh),
                    TaskDeclaration(
                        pattern: try! IdentifierPattern("com.example.a.x.y.z"), kind: .continuedProcessing),
                ]
            }
        ])
        let kinds = try ["x.q", "x.y.q", "x.y.z"].map { name in
            try rig.scheduler.admit(
                TaskSubmission(identifier: .sample("com.example.a.\(name)"), origin: .client), at: rig.now
            ).kind
        }
        #expect(kinds == [.processing, .appRefresh, .continuedProcessing])
    }
}
