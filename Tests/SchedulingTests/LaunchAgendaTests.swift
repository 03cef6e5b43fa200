import TaskModel
import Testing

@testable import Scheduling

@Suite struct LaunchAgendaTests {
    private func requests(_ pass: LaunchAgenda.Pass) -> [Int64]? {
        pass.requests.map { $0.map(\.rawValue).sorted() }
    }

    @Test func `a pass has what was touched and what is due, once`() {
        var agenda = LaunchAgenda()
        for number in 1...1000 { agenda.setInstant(.seconds(number), of: RequestID(rawValue: Int64(number))) }
        agenda.touch(RequestID(rawValue: 700))
        #expect(requests(agenda.takePass(at: .seconds(2))) == [1, 2, 700])
        #expect(requests(agenda.takePass(at: .seconds(2))) == [])
        #expect(agenda.nextInstant() == .seconds(3))
    }

    @Test func `an instant that was moved or taken away does not come up at its old time`() {
        var agenda = LaunchAgenda()
        let (one, two) = (RequestID(rawValue: 1), RequestID(rawValue: 2))
        agenda.setInstant(.seconds(1), of: one)
        agenda.setInstant(.seconds(1), of: two)
        agenda.setInstant(.seconds(5), of: one)
        agenda.setInstant(nil, of: two)
        #expect(agenda.nextInstant() == .seconds(5))
        #expect(requests(agenda.takePass(at: .seconds(4))) == [])
        #expect(requests(agenda.takePass(at: .seconds(5))) == [1])
        #expect(agenda.nextInstant() == nil)
    }

    @Test func `an instant that moves many times is found all the same`() {
        var agenda = LaunchAgenda()
        let one = RequestID(rawValue: 1)
        for number in (1...10_000).reversed() { agenda.setInstant(.seconds(number), of: one) }
        for number in 1...10_000 { agenda.setInstant(.seconds(number), of: one) }
        #expect(agenda.nextInstant() == .seconds(10_000))
    }

    @Test func `the policies are asked about what has started, and about all when told so`() {
        var agenda = LaunchAgenda()
        let (one, two) = (RequestID(rawValue: 1), RequestID(rawValue: 2))
        agenda.touch(one)
        agenda.check(two)
        let pass = agenda.takePass(at: .zero)
        #expect(requests(pass) == [1, 2])
        #expect(!pass.checks(one) && pass.checks(two))
        agenda.checkAll()
        #expect(agenda.takePass(at: .zero).checks(one))
        agenda.touchAll()
        let all = agenda.takePass(at: .zero)
        #expect(requests(all) == nil && !all.checks(one))
    }
}
