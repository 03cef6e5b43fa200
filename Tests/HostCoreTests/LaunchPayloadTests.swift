import TaskModel
import Testing

@testable import HostCore

/// `bgtask launch --payload`: a new request with the manifest's values, in place of the pending one.
@Suite struct LaunchPayloadTests {
    private let payload = #"{"size": 3}"#

    @Test func `a launch with a payload gets it, and replaces the pending request`() throws {
        var rig = try SituationRig()
        try rig.change {
            $0.power = .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 80))
        }
        let cleanup = SituationRig.identifier("cleanup")
        try rig.submit("cleanup")
        let waiting = try #require(rig.world.core.requests.request(of: cleanup))
        try rig.call(.simulate(cleanup, debug: false, payload: payload))
        let order = try #require(rig.world.tasks.values.first?.order)
        #expect(order.request.submission.payload == payload)
        #expect(order.record.request != waiting.id)
        #expect(rig.world.core.requests.request(of: cleanup) == nil)
    }
}
