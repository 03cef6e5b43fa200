/// The ranks of a bundle in the two fair lanes, which count their service apart: short work of seconds must
/// not lose its turn to what long work used, and the reverse.
struct LaneRanks: Equatable, Sendable {
    var short = -Double.infinity
    var long = -Double.infinity

    /// The rank in a lane; the same for all bundles in a lane that is not fair.
    subscript(lane: Lane) -> Double {
        switch lane {
        case .short: short
        case .long: long
        case .simulated, .continued, .urgent, .app: -.infinity
        }
    }
}
