import ControlClient
import ControlWire
import HostSettings

/// Finds the recording of the host that a user means.
enum RecordingPlace {
    /// The wait for the host's answer, in seconds; a recording can also be read without a host.
    private static let patience = 5

    /// The directory of the recording.
    ///
    /// - Parameter state: The state directory that the user names. Without it, the host at the control socket
    ///   is asked for its own; if none answers, the standard one of this user is meant.
    /// - Returns: The path of the directory, which may not exist.
    static func directory(state: String?) async -> String {
        if let state { return state + "/recording" }
        let paths = ControlSocketSearch.candidates(
            option: nil, environment: Surroundings.current.environment)
        let client = ControlClient(socketPath: CommonOptions.socketPath(among: paths), timeout: patience)
        let values = (try? await client.configuration().values) ?? []
        let served = values.first { $0.key == "paths.state" }?.value
        return (served ?? HostPaths.standard.state) + "/recording"
    }
}
