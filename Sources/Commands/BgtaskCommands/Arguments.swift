// These imports are public because the extensions make public types conform to a public protocol.
public import ArgumentParser
public import Simulation
public import TaskModel

extension TaskIdentifier: ExpressibleByArgument {
    /// Reads a task identifier; `nil` if the text is not one.
    public init?(argument: String) {
        try? self.init(argument)
    }
}

extension BundleIdentifier: ExpressibleByArgument {
    /// Reads the identifier of a bundle; `nil` if the text is not one.
    public init?(argument: String) {
        try? self.init(argument)
    }
}

extension LaunchID: ExpressibleByArgument {
    /// Reads a launch's number, such as `L42`; `nil` for anything else.
    public init?(argument: String) {
        self.init(argument)
    }
}

extension ControlTarget: ExpressibleByArgument {
    /// Reads a request's number (`R17`), a launch's number (`L42`) or a task identifier; `nil` for anything
    /// else.
    public init?(argument: String) {
        try? self.init(argument)
    }
}

extension SubmissionStrategy: ExpressibleByArgument {}

extension DeadlineAction: ExpressibleByArgument {}

extension PendingRule: ExpressibleByArgument {}

extension Tag: ExpressibleByArgument {
    /// Reads a tag; `nil` if it is not valid.
    public init?(argument: String) {
        try? self.init(argument)
    }
}

extension DeviceKind: ExpressibleByArgument {}

extension LogLine.Level: ExpressibleByArgument {}

extension Reason: ExpressibleByArgument {
    /// The reasons that help and shell completion offer: only those that an expiration can have.
    public static var allValueStrings: [String] { allCases.filter(\.isExpiration).map(\.rawValue) }
}

extension ArgumentHelp {
    /// The help text of each flag `--json`.
    static let json = ArgumentHelp(
        "Print JSON, with the members of each object in alphabetical order. Later versions may add members.")
}
