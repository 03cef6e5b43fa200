public import Scheduling
public import TaskModel

/// The scheduler's part of a configuration file, without a host: for replays and simulations.
public enum PolicyFile {
    /// The settings that a host with this file would schedule by.
    ///
    /// The file is an ordinary configuration file. Its `scheduling`, `refresh` and `bundles` count; whatever
    /// else is in it is checked and has no effect.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - base: What counts where the file says nothing.
    /// - Returns: The base with what the file says.
    /// - Throws: ``SettingsError`` with everything that is wrong in the file.
    public static func schedulerSettings(
        fromFile path: String, over base: SchedulerSettings = SchedulerSettings()
    ) throws(SettingsError) -> SchedulerSettings {
        let file = SettingsFile.read(path, mayRestrict: true, isInForce: false)
        guard file.isRight else { throw SettingsError(problems: file.problems) }
        var settings = EffectiveSettings(paths: .standard)
        settings.scheduler = base
        for entry in file.entries { entry.key.set(&settings, entry.text) }
        return settings.scheduler
    }
}

/// Settings that were named expressly are wrong; none of them was used.
public struct SettingsError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong, by file, line and column.
    public let problems: [ManifestProblem]

    /// One line for each problem.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
