import Dispatch
import TaskHostTestSupport
import Testing

@testable import Launching

/// Processes that hold up whoever reads their memory map. Real ones need minutes of all cores, so the reader
/// is made up.
@Suite(.system) struct PatientMapTests {
    @Test func `a map that does not come is given up, and does not hold up the next one`() throws {
        let release = DispatchSemaphore(value: 0)
        defer { release.signal() }
        let late = PatientMap.read(1) { _ in
            release.wait()
            return nil
        }
        guard case .tooLate = late else { Issue.record("\(late)"); return }
        // The thread of the first reader is still held up.
        let next = PatientMap.read(2, within: .seconds(60)) { _ in nil }
        guard case .map(nil) = next else { Issue.record("\(next)"); return }
    }
}
