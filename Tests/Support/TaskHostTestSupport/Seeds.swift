import Foundation

/// The seeds of random cases.
///
/// A run of the tests tries the first quarter of the seeds, so that it takes no more than minutes. CI sets
/// `BGTASK_THOROUGH=1` and tries all.
public enum Seeds {
    /// Whether all random cases are tried.
    public static let isThorough = ProcessInfo.processInfo.environment["BGTASK_THOROUGH"] == "1"

    /// The seeds to try out of these: all of them, or the first quarter.
    public static func of<Seed: FixedWidthInteger>(_ all: ClosedRange<Seed>) -> ClosedRange<Seed>
    where Seed.Stride: SignedInteger {
        isThorough ? all : all.lowerBound...(all.lowerBound + (all.upperBound - all.lowerBound) / 4)
    }
}
