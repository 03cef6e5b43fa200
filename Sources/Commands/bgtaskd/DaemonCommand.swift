import ArgumentParser
import ControlServer
import HostSettings
import LinuxSystem
import Logging
import RequestStore
import ServiceLifecycle
import TaskHost
import TaskModel

/// The host, in the foreground.
struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bgtaskd",
        abstract: "Run background tasks of plugins when power, network, heat and the user allow it.",
        discussion: """
            What no option says is taken from BGTASK_... variables, /etc/bgtask/conf.d/*.yaml, /etc/bgtask/bgtaskd.yaml \
            (a user's host: $XDG_CONFIG_HOME/bgtask) and /usr/share/bgtask/bgtaskd.yaml, in this order. 'bgtask config \
            show' tells what is in force and who says so.

            Runs in the foreground until Ctrl-C or SIGTERM; then launches are told to stop and waited for. A second \
            Ctrl-C kills them.

            EXAMPLES
              bgtaskd --plugins ./plugins --manifests ./manifests --state ./state --socket ./control.sock
              bgtaskd --config kiosk.yaml ...         with a configuration file; see also bgtask config
              bgtaskd --conditions simulated ...      begins as a mains-powered, idle, cool machine
              systemd-run --user --scope -p Delegate=yes bgtaskd ...      with a cgroup of its own
            """, version: ProductVersion.current)

    @Option(
        help: "The directory that holds the handlers' libraries; \(HostPaths.standard.plugins) by default.")
    var plugins: String?

    @Option(help: "The directory that holds the manifests; \(HostPaths.standard.manifests) by default.")
    var manifests: String?

    @Option(
        help: "The directory that defines custom conditions; conditions.d beside the manifests by default.")
    var conditionsDirectory: String?

    @Option(
        help:
            "The directory for the store and the bundles' data; made if missing; \(HostPaths.standard.state) by default."
    )
    var state: String?

    @Option(help: "The control socket; \(HostPaths.standard.socket) by default.")
    var socket: String?

    @Option(help: "Where conditions come from: system or simulated; system by default.")
    var conditions: ConditionSource?

    @Option(help: "The runner program; beside bgtaskd or in ../libexec/bgtask by default.")
    var runner: String?

    @Option(help: "Force a group kill: cgroup, pidNamespace or noFork; the strongest by default.")
    var isolation: GroupKill?

    @Option(help: "Unload a plugin that was not launched for so many seconds; 300 by default.")
    var templateIdle: Int?

    @Option(
        help: "Log lines of this level and above: debug, info, notice, warning or error; info by default.")
    var logLevel: LogLine.Level?

    @Option(
        help: ArgumentHelp(
            "One more configuration file, above the administrator's; a mistake in it keeps the host from starting.",
            valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "Look for usr/share/bgtask/bgtaskd.yaml and etc/bgtask in this directory, for images and tests.",
            valueName: "directory"))
    var configRoot: String?

    @Flag(help: "Move a damaged store aside, say where, and exit.")
    var setAsideStore = false

    func run() async throws {
        if setAsideStore {
            let state = try SettingsFiles(sources).latest.effective.paths.state
            let moved = try SQLiteRequestStore.setAside(directory: state, at: SystemClocks().now().wall)
            print(moved.isEmpty ? "There is no store in \(state)." : moved.joined(separator: "\n"))
            return
        }
        try await serve()
    }
}
