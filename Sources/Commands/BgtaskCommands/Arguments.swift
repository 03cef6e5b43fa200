// These conformances are public because both sides are.
public import ArgumentParser
public import Simulation
public import TaskModel

extension TaskIdentifier: ExpressibleByArgument {
    /// Takes an identifier.
    public init?(argument: String) {
        try? self.init(argument)
    }
}

extension BundleIdentifier: ExpressibleByArgument {
    /// Takes a bundle's identifier.
    public init?(argument: String) {
        try? self.init(argument)
    }
}

extension LaunchID: ExpressibleByArgument {
    /// Takes `L42`.
    public init?(argument: String) {
        self.init(argument)
    }
}

extension ControlTarget: ExpressibleByArgument {
    /// Takes `R17`, `L42` or an identifier.
    public init?(argument: String) {
        try? self.init(argument)
    }
}

extension SubmissionStrategy: ExpressibleByArgument {}

extension DeviceKind: ExpressibleByArgument {}

extension LogLine.Level: ExpressibleByArgument {}

extension Reason: ExpressibleByArgument {
    /// Only those that an expiration may give are offered to help and completion.
    public static var allValueStrings: [String] { allCases.filter(\.isExpiration).map(\.rawValue) }
}
