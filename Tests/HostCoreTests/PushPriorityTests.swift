import MemoryStore
import TaskModel
import Testing

@testable import HostCore

/// What happens to pushes that wait when another one comes.
@Suite struct PushPriorityTests {
    /// A host whose pushes wait, because the user dismissed the bundle.
    private func rig() throws -> SituationRig {
        var rig = try SituationRig()
        try rig.call(.change(SituationRig.bundle, .dismissed))
        return rig
    }

    private func push(_ priority: PushPriority, _ payload: String) -> HostCall {
        .push(PushOrder(to: SituationRig.bundle, payload: payload, priority))
    }

    private func waiting(_ rig: SituationRig) -> [String?] {
        rig.world.store.pendingRequests.filter { $0.kind == .push }.map(\.submission.payload)
    }

    @Test(arguments: [
        ([PushPriority.considerate, .considerate], "2"), ([.considerate, .immediate], "2"),
        ([.immediate, .immediate], "2"), ([.immediate, .considerate], "1"),
        ([.immediate, .considerate, .immediate], "3"),
    ])
    func `the newest push waits, but one of priority 5 does not take the place of one of priority 10`(
        priorities: [PushPriority], payload: String
    ) throws {
        var rig = try rig()
        for (index, priority) in priorities.enumerated() {
            try rig.call(push(priority, "{\"n\": \(index + 1)}"))
        }
        #expect(waiting(rig) == ["{\"n\": \(payload)}"])
    }

    // The scheduler still knows the push of priority 5 while the store replaces it by that of priority 10.
    @Test
    func `a push of priority 5 that comes while one of priority 10 is being stored does not replace it`()
        throws
    {
        var rig = try rig()
        try rig.call(push(.considerate, "{\"n\": 1}"))
        rig.world.call(push(.immediate, "{\"n\": 2}"))
        rig.world.call(push(.considerate, "{\"n\": 3}"))
        while !rig.world.inputs.isEmpty { try rig.world.takeInput() }
        try rig.calm()
        #expect(waiting(rig) == ["{\"n\": 2}"])
    }
}
