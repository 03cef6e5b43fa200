// These imports are public because the extensions make public types conform to a public protocol.
public import ArgumentParser
public import Simulation
public import TaskModel

extension TaskIdentifier: ExpressibleByArgument {
    /// Reads a task identifier; `nil` if the text is not one.
    public init?(argument: String) {
        try? self.init(argument)
    }

    /// The tasks of the running host.
    public static var defaultCompletionKind: CompletionKind { LiveNames.tasks }
}

extension BundleIdentifier: ExpressibleByArgument {
    /// Reads the identifier of a bundle; `nil` if the text is not one.
    public init?(argument: String) {
        try? self.init(argument)
    }

    /// The bundles of the running host.
    public static var defaultCompletionKind: CompletionKind { LiveNames.bundles }
}

extension LaunchID: ExpressibleByArgument {
    /// Reads a launch's number, such as `L42` or `42`; `nil` for anything else.
    public init?(argument: String) {
        self.init(Int64(argument) == nil ? argument : "L" + argument)
    }

    /// The newest launches of the running host.
    public static var defaultCompletionKind: CompletionKind { LiveNames.launches }
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

extension Outcome: ExpressibleByArgument {}

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
