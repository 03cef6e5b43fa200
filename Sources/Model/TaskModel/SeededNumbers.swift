/// Random numbers that follow from a seed, the same on every machine (SplitMix64's constants and shifts).
public struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Starts a sequence.
    public init(seed: UInt64) { state = seed }

    /// A sequence of its own for one part of a whole: other parts may be added without changing it.
    public init(seed: UInt64, part: UInt64) {
        var whole = SeededNumbers(seed: seed)
        state = whole.next() ^ (part &* 0xD6E8_FEB8_6659_FD93)
        _ = next()
    }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
