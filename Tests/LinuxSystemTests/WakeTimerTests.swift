import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@Suite(.system) struct WakeTimerTests {
    @Test(.timeLimit(.minutes(1))) func `an alarm in the past comes at once, on either clock`() async throws {
        let now = SystemClocks().now()
        for isBoot in [true, false] {
            let timer = try WakeTimer()
            defer { timer.cancel() }
            let past = WallTime(sinceEpoch: now.wall.sinceEpoch - .seconds(1))
            timer.set(bootAt: isBoot ? now.boot - .seconds(1) : nil, wallAt: isBoot ? nil : past)
            var wakes = timer.wakes.makeAsyncIterator()
            #expect(await wakes.next() != nil)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a later alarm replaces an earlier one, and cancelling ends the stream`()
        async throws
    {
        let now = SystemClocks().now()
        let timer = try WakeTimer()
        timer.set(bootAt: now.boot + .seconds(3600), wallAt: nil)
        timer.set(bootAt: now.boot + .milliseconds(1), wallAt: nil)
        var wakes = timer.wakes.makeAsyncIterator()
        #expect(await wakes.next() != nil)
        timer.set(bootAt: now.boot + .seconds(3600), wallAt: now.wall + .seconds(3600))
        timer.cancel()
        #expect(await wakes.next() == nil)
    }
}
