/// A generator of random numbers from a seed, with the same results on every machine (algorithm: SplitMix64).
public struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Starts the sequence of a seed.
    public init(seed: UInt64) { state = seed }

    /// Starts the sequence of one part of a simulation.
    ///
    /// Each part has its own sequence, so that new parts do not change the numbers of the others.
    public init(seed: UInt64, part: UInt64) {
        var whole = SeededNumbers(seed: seed)
        state = whole.next() ^ (part &* 0xD6E8_FEB8_6659_FD93)
        _ = next()
    }

    /// The next number of the sequence.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
