/// Which networks are in low-data mode, in which the user wants to save data.
///
/// No service of Linux knows such a mode, so the configuration of the host says it.
public enum LowDataMode: String, Sendable, CaseIterable {
    /// No network.
    case never
    /// A network that NetworkManager guesses to be metered, such as that of a phone that shares its own.
    case guessed
    /// Every metered network.
    case metered
    /// Every network.
    case always

    /// The condition of a network.
    ///
    /// - Parameters:
    ///   - network: The network without this mode.
    ///   - isGuess: Whether its source only guesses that it is metered.
    /// - Returns: `constrained` if the network is in low-data mode, otherwise the network.
    public func condition(of network: NetworkCondition, isGuess: Bool) -> NetworkCondition {
        switch (self, network) {
        case (_, .none), (_, .constrained), (.never, _): network
        case (.always, _): .constrained
        case (.metered, .metered): .constrained
        case (.guessed, .metered): isGuess ? .constrained : .metered
        case (.metered, .unmetered), (.guessed, .unmetered): .unmetered
        }
    }
}
