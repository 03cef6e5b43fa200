import HandlerRegistry
import HostSettings

/// The directories in which commands that work without a host look for the libraries of calls.
enum CallPlaces {
    /// The plugins directory of a host that would start now with the configuration files and the environment.
    static var hostPlugins: String {
        // Uses the variables of this command. In a test, they differ from those of the process.
        let sources = SettingsSources(environment: Surroundings.current.environment)
        // An invalid variable is ignored here, because the host reports it.
        return (try? SettingsFiles(sources))?.latest.effective.paths.plugins ?? HostPaths.standard.plugins
    }

    /// The directory that `--plugins` names, or else the host's plugins directory.
    static func search(_ plugins: String?) -> CallSearch { CallSearch([plugins ?? hostPlugins]) }
}
