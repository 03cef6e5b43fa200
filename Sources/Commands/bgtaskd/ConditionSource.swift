public import ArgumentParser
public import TaskModel

/// Where the conditions come from.
enum ConditionSource: String, ExpressibleByArgument, CaseIterable {
    case system
    case simulated
}

extension GroupKill: ExpressibleByArgument {}
extension LogLine.Level: ExpressibleByArgument {}
