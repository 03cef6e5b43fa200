import Dispatch
import TaskHostTestSupport
import Testing

@testable import Launching

/// Processes that hold up whoever reads their memory map. Real ones need minutes of all cores, so the reader
/// is made up.
@Suite(.system) struct PatientMapsTests {
    @Test func `a map that does not come is given up, and its bundle gets no more waits for a minute`()
        throws
    {
        let moments = VirtualMoments()
        let maps = PatientMaps(moments: moments)
        let release = DispatchSemaphore(value: 0)
        defer { release.signal() }
        let late = maps.read(1, of: "com.example.slow") { _ in
            release.wait()
            return nil
        }
        guard case .missing = late else { Issue.record("\(late)"); return }
        let next = maps.read(2, of: "com.example.slow") { _ in
            Issue.record("it was read")
            return nil
        }
        guard case .missing = next else { Issue.record("\(next)"); return }
        // The thread of the first reader is still held up.
        moments.advance(by: MapPatience.memory)
        let later = maps.read(3, of: "com.example.slow") { _ in nil }
        guard case .map(nil) = later else { Issue.record("\(later)"); return }
    }
}

/// How long the event loop waits for maps.
@Suite struct MapPatienceTests {
    @Test
    func `while some map is late the waits for all others are short, and there are none for its bundle`() {
        var patience = MapPatience()
        #expect(patience.begin("a", at: .seconds(0)) == MapPatience.first)
        patience.wasLate("a", at: .seconds(1))
        #expect(patience.begin("a", at: .seconds(2)) == nil)
        #expect(patience.begin("b", at: .seconds(2)) == MapPatience.later)
        patience.end()
        #expect(patience.begin("a", at: .milliseconds(60_999)) == nil)
        #expect(patience.begin("a", at: .seconds(61)) == MapPatience.first)
    }

    @Test func `no more than eight threads read maps or are held up`() {
        var patience = MapPatience()
        for number in 0..<8 { #expect(patience.begin("\(number)", at: .zero) != nil) }
        #expect(patience.begin("ninth", at: .zero) == nil)
        patience.end()
        #expect(patience.begin("ninth", at: .zero) == MapPatience.first)
    }

    @Test func `maps of a thousand bundles that never come hold up the loop for 285 ms`() {
        var patience = MapPatience()
        var waited = Duration.zero
        for number in 0..<1000 {
            guard let wait = patience.begin("\(number)", at: .seconds(1)) else { continue }
            waited += wait
            patience.wasLate("\(number)", at: .seconds(1))
        }
        #expect(waited == .milliseconds(250 + 7 * 5))
    }
}
