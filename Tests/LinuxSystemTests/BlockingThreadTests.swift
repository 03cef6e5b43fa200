import Glibc
import Synchronization
import Testing

@testable import LinuxSystem

/// Threads that the machine can't give at once.
@Suite struct BlockingThreadTests {
    @Test(arguments: [EAGAIN, ENOMEM])
    func `a thread that the machine can't give now starts later`(code: CInt) async {
        let attempts = Mutex(0)
        await withCheckedContinuation { done in
            BlockingThread.start(
                named: "later",
                by: { start in
                    let attempt = attempts.withLock {
                        $0 += 1; return $0
                    }
                    return attempt < 3 ? code : BlockingThread.create(start)
                }
            ) { done.resume() }
        }
        #expect(attempts.withLock(\.self) == 3)
    }
}
