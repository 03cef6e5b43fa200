public import ArgumentParser
public import HostSettings
public import TaskModel

/// The source of the host's conditions.
enum ConditionSource: String, ExpressibleByArgument, CaseIterable {
    case system
    case simulated
}

extension EffectiveSettings.Isolation: ExpressibleByArgument {}
extension LogLine.Level: ExpressibleByArgument {}
extension LogFormat: ExpressibleByArgument {}
