public import Scheduling
public import TaskModel

/// Reads the scheduler's settings from a configuration file, for replays and simulations without a host.
public enum PolicyFile {
    /// Reads the scheduler settings that a host with this file would use.
    ///
    /// The file is an ordinary configuration file. Only its `scheduling`, `refresh` and `bundles` keys have
    /// an effect; all other keys are checked too.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - base: The values of the settings that the file does not contain.
    /// - Returns: The base, with the values of the file in place of its own.
    /// - Throws: ``SettingsError`` with all problems of the file, if one of them is an error.
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

/// The error for invalid settings that the user selected explicitly: a named file or an environment variable.
public struct SettingsError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The problems, with file, line and column.
    public let problems: [ManifestProblem]

    /// One line for each problem.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
