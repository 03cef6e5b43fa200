import Testing

@Suite struct PropertyTests {
    @Test(arguments: 1...12)
    func `whatever happens, no rule is broken and nothing starves`(seed: Int) {
        check(seed: UInt64(seed))
    }

    @Test func `nor with a seed that was never tried`() {
        check(seed: UInt64.random(in: .min ... .max))
    }

    private func check(seed: UInt64) {
        let host = RandomHost(seed: seed)
        for _ in 0..<900 where host.faults.isEmpty { host.step() }
        if host.faults.isEmpty { host.drain() }
        #expect(host.faults.isEmpty, "seed \(seed): \(host.faults.prefix(3))")
        #expect(host.launchCount > 20, "seed \(seed): hardly anything was launched")
    }
}
