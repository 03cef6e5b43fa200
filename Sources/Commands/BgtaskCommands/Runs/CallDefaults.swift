import HandlerRegistry
import HostSettings
import LinuxSystem
import Signatures

/// Where commands that work without a host look for the libraries of calls, and which signatures they
/// require.
enum CallDefaults {
    /// The settings of a host that would start now with the configuration files and the environment.
    ///
    /// Uses the variables of this command. In a test, they differ from those of the process. An invalid
    /// variable is ignored here, because the host reports it.
    private static var hostSettings: EffectiveSettings? { (try? SettingsFiles(sources))?.latest.effective }

    private static var sources: SettingsSources {
        SettingsSources(environment: Surroundings.current.environment)
    }

    /// The plugins directory of a host that would start now.
    static var hostPlugins: String { hostSettings?.paths.plugins ?? HostPaths.standard.plugins }

    /// The files and directories of a host that would start now.
    static var hostFiles: HostFiles {
        let paths = hostSettings?.paths ?? .standard
        let runner = paths.runner.isEmpty ? try? HostPaths.installedRunner() : paths.runner
        return HostFiles(
            manifests: [paths.manifests], plugins: paths.plugins,
            conditions: paths.conditions.isEmpty ? nil : paths.conditions, state: paths.state,
            configuration: sources.paths, programs: runner.map(HostPaths.programs(runner:)) ?? [],
            controlSocket: paths.socket, startup: StartupFiles.standard())
    }

    /// The users of bundles of a host that this user would start now; `nil` if tasks run as the host's user.
    static var bundleUsers: ClosedRange<UInt32>? {
        ProcessFacts.isRoot ? (hostSettings ?? EffectiveSettings(paths: .standard)).bundleUsers : nil
    }

    /// The signatures that a host that would start now requires.
    static var signatures: SignatureRule { SignatureRule(keys: hostSettings?.trustedKeys ?? []) }

    /// The directory that `--plugins` names, or else the host's plugins directory.
    static func search(_ plugins: String?) -> CallSearch { CallSearch([plugins ?? hostPlugins]) }
}
