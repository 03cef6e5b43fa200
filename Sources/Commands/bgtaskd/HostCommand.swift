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
struct HostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bgtaskd",
        abstract: "Run background tasks of plugins when power, network, heat and the user allow it.",
        discussion: """
            Runs in the foreground until Ctrl-C or SIGTERM; then launches are told to stop and waited for. A second \
            Ctrl-C kills them.

            EXAMPLES
              bgtaskd --plugins ./plugins --manifests ./manifests --state ./state --socket ./control.sock
              bgtaskd --conditions simulated ...      begins as a mains-powered, idle, cool machine
              systemd-run --user --scope -p Delegate=yes bgtaskd ...      with a cgroup of its own
            """, version: ProductVersion.current)

    @Option(help: "The directory that holds the handlers' libraries.")
    var plugins = HostPaths.standard.plugins

    @Option(help: "The directory that holds the manifests.")
    var manifests = HostPaths.standard.manifests

    @Option(help: "The directory for the store and the bundles' data; made if missing.")
    var state = HostPaths.standard.state

    @Option(help: "The control socket.")
    var socket = HostPaths.standard.socket

    @Option(help: "Where conditions come from: system or simulated.")
    var conditions = ConditionSource.system

    @Option(help: "The runner program; beside bgtaskd or in ../libexec/bgtask by default.")
    var runner: String?

    @Option(help: "Force a group kill: cgroup, pidNamespace or noFork; the strongest by default.")
    var isolation: GroupKill?

    @Option(help: "Unload a plugin that was not launched for so many seconds.")
    var templateIdle = 300

    @Option(help: "Log lines of this level and above: debug, info, notice, warning or error.")
    var logLevel = LogLine.Level.info

    @Flag(help: "Move a damaged store aside, say where, and exit.")
    var setAsideStore = false

    func run() async throws {
        if setAsideStore {
            let moved = try SQLiteRequestStore.setAside(directory: state, at: SystemClocks().now().wall)
            print(moved.isEmpty ? "There is no store in \(state)." : moved.joined(separator: "\n"))
            return
        }
        try await serve()
    }
}
