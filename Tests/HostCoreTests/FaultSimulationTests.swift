import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

@testable import HostCore

/// Random histories of a host in a world with faults.
///
/// A failure reports the seed and the shortest history that shows it, and prints the last events.
@Suite struct FaultSimulationTests {
    /// The number of histories to play: `BGTASK_HISTORIES`, else 20,000 in CI and 2,000 elsewhere.
    private static let count =
        ProcessInfo.processInfo.environment["BGTASK_HISTORIES"].flatMap(UInt64.init)
        ?? (Seeds.isThorough ? 20_000 : 2_000)

    /// The number of lines to print of a failing history: 40, or `BGTASK_TRACE`.
    private static let lines =
        ProcessInfo.processInfo.environment["BGTASK_TRACE"].flatMap(Int.init) ?? 40

    /// Plays only the history of the seed `BGTASK_SEED` and prints its trace, to help find a cause.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["BGTASK_SEED"] != nil))
    func `the history of one seed`() throws {
        let seed = ProcessInfo.processInfo.environment["BGTASK_SEED"].flatMap(UInt64.init) ?? 0
        let history = RandomHistory(seed: seed)
        do {
            try history.play()
        } catch {
            let small = history.shrunk()
            Issue.record("\(error)\n\(small.trace().suffix(Self.lines).joined(separator: "\n"))")
        }
    }

    @Test(arguments: 0..<8)
    func `no promise is broken, whatever fails and whenever the host dies`(part: UInt64) throws {
        for seed in 0..<(Self.count / 8) {
            let history = RandomHistory(seed: part * 1_000_003 + seed)
            do {
                try history.play()
            } catch {
                let small = history.shrunk()
                var cause = "\(error)"
                do { try small.play() } catch { cause = "\(error)" }
                Issue.record(
                    """
                    seed \(small.seed), \(small.steps) steps, faults \(small.faults): \(cause)
                    \(small.trace().suffix(Self.lines).joined(separator: "\n"))
                    """)
                return
            }
        }
    }
}
