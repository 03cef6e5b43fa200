import TaskHostTestSupport
import Testing

@Suite struct PropertyTests {
    @Test(arguments: Seeds.of(1...12))
    func `whatever happens, no rule is broken and nothing starves`(seed: Int) {
        check(seed: UInt64(seed))
    }

    @Test func `nor with a seed that was never tried`() {
        check(seed: UInt64.random(in: .min ... .max))
    }

    @Test(arguments: Seeds.of(101...108) + [4035, 4073, 4126])
    func `what starts, and when, is what judging every request at every event would start`(seed: Int) {
        checkPlainly(seed: UInt64(seed))
    }

    @Test func `nor does a new seed find a difference to judging everything`() {
        checkPlainly(seed: UInt64.random(in: .min ... .max))
    }

    private func checkPlainly(seed: UInt64) {
        let host = RandomHost(seed: seed)
        host.comparesPlainly = true
        for _ in 0..<600 where host.faults.isEmpty { host.step() }
        #expect(host.faults.isEmpty, "seed \(seed): \(host.faults.prefix(3))")
        #expect(host.launchCount > 20, "seed \(seed): hardly anything was launched")
    }

    private func check(seed: UInt64) {
        let host = RandomHost(seed: seed)
        for _ in 0..<900 where host.faults.isEmpty { host.step() }
        if host.faults.isEmpty { host.drain() }
        #expect(host.faults.isEmpty, "seed \(seed): \(host.faults.prefix(3))")
        #expect(host.launchCount > 20, "seed \(seed): hardly anything was launched")
    }
}
