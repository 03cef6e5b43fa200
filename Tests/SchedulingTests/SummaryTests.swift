import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// The short form of a pending request in listings.
@Suite struct SummaryTests {
    @Test(arguments: Seeds.of(1...8))
    func `a summary has the first reason of the explanation and counts the others`(seed: UInt64) throws {
        let host = RandomHost(seed: seed)
        var compared = 0
        for _ in 0..<300 {
            host.step()
            let now = host.moments.now()
            for request in host.scheduler.pendingRequests {
                let explanation = try #require(host.scheduler.explain(request.id, at: now))
                var foresight = Foresight(host.scheduler, at: now)
                let summary = host.scheduler.summary(of: request, &foresight, at: now)
                #expect(summary.request == request)
                #expect(summary.reason == explanation.vetoes.first)
                #expect(summary.otherReasons == max(0, explanation.vetoes.count - 1))
                compared += 1
            }
        }
        #expect(compared > 100)
    }
}
