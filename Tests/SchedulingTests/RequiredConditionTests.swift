import Foundation
import TaskModel
import Testing

@testable import Scheduling

extension Manifest {
    /// Makes one of the sample tasks require custom conditions.
    mutating func require(_ conditions: [String], of name: String) {
        for index in tasks.indices where tasks[index].pattern.base.rawValue.hasSuffix(".\(name)") {
            tasks[index].requiredConditions = conditions
        }
    }
}

/// Conditions of `conditions.d` that a manifest requires.
@Suite struct RequiredConditionTests {
    static let requiring = Manifest.make("com.example.a") { $0.require(["docked", "lid-closed"], of: "p1") }

    @Test(arguments: [nil, .unknown, .known(false)] as [Reading<Bool>?])
    func `a task waits until every condition that it requires holds, and other tasks do not`(
        docked: Reading<Bool>?
    ) {
        let rig = SchedulerRig([Self.requiring])
        rig.change { $0.custom = ["lid-closed": .known(true), "docked": docked].compactMapValues(\.self) }
        rig.submit("p1")
        #expect(rig.take() == [])
        #expect(rig.wake == Wake(), "no clock wakes the host for it")
        #expect(rig.vetoes("p1") == ["RequiredConditions"])
        rig.submit("p2")
        #expect(rig.launched() == ["com.example.a.p2"])
        rig.change { $0.custom["lid-closed"] = .known(false) }
        rig.change { $0.custom["docked"] = .known(true) }
        #expect(rig.launched() == [])
        rig.change { $0.custom["lid-closed"] = .known(true) }
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test(arguments: [nil, .unknown, .known(false)] as [Reading<Bool>?])
    func `it expires with conditionLost as soon as one of them is not known to hold`(docked: Reading<Bool>?) {
        let rig = SchedulerRig([Self.requiring])
        rig.change { $0.custom = ["lid-closed": .known(true), "docked": .known(true)] }
        let launch = rig.run("p1")
        let other = rig.run("p2")
        _ = rig.take()
        rig.change { $0.custom["another"] = .known(false) }
        #expect(rig.take() == [])
        rig.change { $0.custom["docked"] = docked }
        #expect(rig.take() == [.expire(launch, .conditionLost)])
        rig.end(launch)
        rig.end(other)
        #expect(rig.take() == [])
    }

    @Test func `explain says which of them holds, since when, and what would help`() throws {
        let rig = SchedulerRig([Self.requiring])
        rig.change { $0.custom = ["docked": .known(true)] }
        let id = rig.submit("p1")
        func rationale() throws -> Rationale {
            let verdicts = try #require(rig.scheduler.explain(id, at: rig.now)).verdicts
            return try #require(verdicts.first { $0.policy == "RequiredConditions" }?.rationale.first)
        }
        #expect(try rationale().required == "docked=on lid-closed=on")
        #expect(try rationale().observed == "docked=on lid-closed=undefined")
        #expect(try rationale().remedy?.contains("condition: lid-closed") == true)
        rig.advance(.seconds(60))
        rig.change { $0.custom["lid-closed"] = .known(false) }
        #expect(try rationale().observed == "docked=on lid-closed=off")
        #expect(try rationale().remedy?.contains("bgtask conditions set lid-closed=on") == true)
        let since = rig.scheduler.explain(id, at: rig.now)?.verdicts.first {
            $0.policy == "RequiredConditions"
        }?.since
        #expect(since == rig.now.wall)
        rig.change { $0.custom["lid-closed"] = .unknown }
        #expect(try rationale().observed == "docked=on lid-closed=unknown")
    }

    @Test func `a record of conditions from before there were custom ones is read`() throws {
        var old = Conditions.simulatedStart
        old.custom = ["docked": .known(true), "lid-closed": .unknown]
        let decoder = JSONDecoder(), encoder = JSONEncoder()
        #expect(try decoder.decode(Conditions.self, from: encoder.encode(old)) == old)
        var fields = try #require(
            JSONSerialization.jsonObject(with: encoder.encode(old)) as? [String: Any])
        fields["custom"] = nil
        let recorded = try JSONSerialization.data(withJSONObject: fields)
        #expect(try decoder.decode(Conditions.self, from: recorded) == .simulatedStart)
    }
}
