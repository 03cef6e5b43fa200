import TaskModel

extension ServiceAccount {
    /// The time, in seconds, after which service counts half: one day.
    ///
    /// Our choice: a bundle that was busy yesterday must not wait today for one that is busy now.
    static let halfLife = 86_400.0
    /// The service of a launch, besides its CPU time: 10 s.
    ///
    /// Our choice: a launch occupies a slot and wakes the machine even if it uses no CPU time. A typical
    /// refresh runs for some seconds.
    static let secondsPerLaunch = 10.0

    /// Adds a launch that ended.
    mutating func add(cpu: Duration, at time: WallTime) {
        // If the clock was set back, older service does not grow.
        let time = at.map { max($0, time) } ?? time
        let age = at.map { (time - $0).inSeconds } ?? 0
        seconds = seconds * .half(age / Self.halfLife) + Self.secondsPerLaunch + max(0, cpu.inSeconds)
        at = time
    }

    /// Moves the time of the last launch to the present, if it lies in the future because the clock was
    /// wrong.
    mutating func clamp(to now: WallTime) { at = at.map { min($0, now) } }

    /// A number by which bundles are ordered: the bundle with the least had the least service.
    ///
    /// Service fades at the same rate for all bundles, so their order changes only when a launch ends. The
    /// number is the logarithm of the service, plus the time in half-lives, and never falls when service is
    /// added.
    ///
    /// - Parameter weight: The bundle's weight, which is more than 0: the service of a bundle of weight 2
    ///   counts half.
    /// - Returns: The number.
    func rank(weight: Double) -> Double {
        guard seconds > 0, let at else { return -.infinity }
        return (seconds / weight).logarithm + at.sinceEpoch.inSeconds / Self.halfLife
    }
}

extension ServiceAccount {
    /// The number of a bundle of weight 1.
    var rank: Double { rank(weight: 1) }
}

/// Powers and logarithms of 2 by arithmetic alone, so that they are the same on every machine, and a replay
/// is exact; those of the C library may differ in their last digits.
extension Double {
    /// The binary digits that are computed after the point.
    private static let digits = 40

    /// One half to the power of `exponent`, which is 0 or more.
    fileprivate static func half(_ exponent: Double) -> Double {
        let whole = min(exponent.rounded(.down), 1000)
        var rest = min(exponent - whole, 1)
        var (power, factor) = (Double(sign: .plus, exponent: -Int(whole), significand: 1), 0.5.squareRoot())
        for _ in 0..<digits {
            rest *= 2
            if rest >= 1 {
                power *= factor
                rest -= 1
            }
            factor = factor.squareRoot()
        }
        return power
    }

    /// The logarithm to the base 2 of a positive number.
    fileprivate var logarithm: Double {
        var (result, mantissa, digit) = (Double(exponent), significand, 0.5)
        for _ in 0..<Self.digits {
            mantissa *= mantissa
            if mantissa >= 2 {
                mantissa /= 2
                result += digit
            }
            digit /= 2
        }
        return result
    }
}
