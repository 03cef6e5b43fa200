import Dispatch
import Synchronization
import Testing

@testable import LinuxSystem

/// Lines for a reader that may stop reading.
@Suite struct StandardErrorLinesTests {
    @Test func `a reader that stalls keeps no writer waiting, and what it missed is counted`() {
        let written = Mutex<[String]>([])
        let mayWrite = DispatchSemaphore(value: 0)
        let isStuck = DispatchSemaphore(value: 0)
        let lines = StandardErrorLines(
            write: { text in
                isStuck.signal()
                mayWrite.wait()
                mayWrite.signal()
                written.withLock { $0.append(text) }
            }, aboutLost: { "\($0) lost\n" })
        lines.append("first\n")
        isStuck.wait()
        // Each of these calls returns only when its line is in the buffer or dropped.
        for number in 1..<(StandardErrorLines.capacity + 100) { lines.append("\(number)\n") }
        #expect(written.withLock { $0 }.isEmpty)
        mayWrite.signal()
        lines.flush(seconds: 60)
        #expect(written.withLock { $0.count } == StandardErrorLines.capacity)
        lines.append("last\n")
        lines.flush(seconds: 60)
        let end = written.withLock { $0.suffix(2) }
        #expect(Array(end) == ["100 lost\n", "last\n"])
    }
}
