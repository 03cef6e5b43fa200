import TaskModel
import Testing

@testable import Scheduling

/// Which network a task requires, and what happens when the present one becomes metered.
@Suite struct NetworkRequirementTests {
    /// The networks that are connected, but metered or in low-data mode.
    static let costly: [NetworkCondition] = [.metered, .constrained]

    @Test(arguments: costly)
    func `processing waits for an unmetered network, and its remedy helps`(network: NetworkCondition) throws {
        let rig = SchedulerRig()
        rig.change { $0.network = .known(network) }
        let id = rig.submit("networked")
        #expect(rig.take() == [])
        #expect(rig.wake == Wake())
        let veto = try #require(rig.scheduler.explain(id, at: rig.now)?.vetoes.first)
        let rationale = try #require(veto.rationale.first)
        #expect(veto.policy == "Network")
        #expect(rationale.required == "connected and unmetered")
        #expect(rationale.remedy?.contains("onnect to an unmetered network") == true)
        rig.change { $0.network = .known(.unmetered) }
        #expect(rig.launched() == ["com.example.a.networked"])
    }

    @Test(arguments: costly)
    func `what requires an unmetered network ends with networkMetered, and goes on when it is back`(
        network: NetworkCondition
    ) {
        let rig = SchedulerRig()
        let launch = rig.run("networked")
        let other = rig.run("p1") { $0.network = .any }
        _ = rig.take()
        rig.change { $0.network = .known(network) }
        #expect(rig.take() == [.expire(launch, .networkMetered)])
        rig.end(launch, putBack: rig.running[launch])
        #expect(rig.vetoes("networked") == ["Network"])
        rig.change { $0.network = .known(.unmetered) }
        #expect(rig.launched() == ["com.example.a.networked"])
        _ = other
    }

    @Test func `no network at all is still networkLost`() {
        let rig = SchedulerRig()
        let launch = rig.run("networked")
        _ = rig.take()
        rig.change { $0.network = .known(.none) }
        #expect(rig.take() == [.expire(launch, .networkLost)])
    }

    @Test func `an activity is asked to stop before it expires with networkMetered`() {
        let rig = SchedulerRig([
            .make("com.example.a") {
                var activity = TaskDeclaration(
                    pattern: try! IdentifierPattern("com.example.a.activity"), kind: .activity)
                activity.network = .unmetered
                $0.tasks.append(activity)
            }
        ])
        let launch = rig.run("activity")
        _ = rig.take()
        rig.change { $0.network = .known(.metered) }
        #expect(rig.take() == [.setShouldDefer(launch, true)])
        rig.advance(.seconds(10))
        #expect(rig.take() == [.expire(launch, .networkMetered)])
    }

    @Test func `a refresh and a user's task take a metered network, unless they say unmetered`() {
        let rig = SchedulerRig()
        rig.change { $0.network = .known(.metered) }
        rig.submit("refresh") { $0.requiresNetworkConnectivity = true }
        rig.submit("export.film") { $0.requiresNetworkConnectivity = true }
        rig.submit("export.song") { $0.network = .unmetered }
        #expect(rig.launched().sorted() == ["com.example.a.export.film", "com.example.a.refresh"])
        #expect(rig.vetoes("export.song") == ["Network"])
    }

    @Test func `bgtask launch starts on a metered network and may go on there`() {
        let rig = SchedulerRig()
        rig.change { $0.network = .known(.metered) }
        let id = rig.submit("networked")
        rig.send(.simulate(id))
        #expect(rig.launched() == ["com.example.a.networked"])
        rig.begin(id)
        rig.change { $0.network = .known(.constrained) }
        #expect(rig.take() == [])
    }

    @Test(
        arguments: [
            (nil, nil, nil), (.any, nil, .any), (nil, .any, .any), (.unmetered, .any, .unmetered),
            (.any, .unmetered, .unmetered),
        ] as [(NetworkRequirement?, NetworkRequirement?, NetworkRequirement?)])
    func `of the request's and the manifest's statement the stricter one counts`(
        request: NetworkRequirement?, manifest: NetworkRequirement?, expected: NetworkRequirement?
    ) {
        var submission = TaskSubmission(identifier: .sample("p1"), origin: .client)
        submission.network = request
        var declaration = TaskDeclaration(
            pattern: try! IdentifierPattern("com.example.a.p1"), kind: .processing)
        declaration.network = manifest
        #expect(NetworkRequirement.inForce(submission, declaration, kind: .processing) == expected)
        submission.requiresNetworkConnectivity = true
        #expect(
            NetworkRequirement.inForce(submission, declaration, kind: .processing) == expected ?? .unmetered)
        #expect(NetworkRequirement.inForce(submission, declaration, kind: .appRefresh) == expected ?? .any)
    }
}
