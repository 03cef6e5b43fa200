import HandlerRegistry
import HostSettings

/// Where commands that work without a host look for the libraries of calls.
enum CallPlaces {
    /// The plugins directory of a host that would start here: of the configuration and the environment, else
    /// the standard one.
    static var hostPlugins: String {
        // The variables of this command, which in a test are not those of the process.
        let sources = SettingsSources(environment: Surroundings.current.environment)
        // A variable that is wrong is the host's to report, not theirs.
        return (try? SettingsFiles(sources))?.latest.effective.paths.plugins ?? HostPaths.standard.plugins
    }

    /// The directory that `--plugins` names, else that of the host.
    static func search(_ plugins: String?) -> CallSearch { CallSearch([plugins ?? hostPlugins]) }
}
