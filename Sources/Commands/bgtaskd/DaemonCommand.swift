import ArgumentParser
import ControlServer
import HostSettings
import LinuxSystem
import Logging
import RequestStore
import ServiceLifecycle
import TaskHost
import TaskModel

/// The command `bgtaskd`: it runs the host in the foreground.
struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bgtaskd",
        abstract: "Runs the background tasks of plugins when power, network, heat and the user allow it.",
        discussion: """
            bgtaskd looks for each setting in these places, and uses the first value that it finds:
              1. the options below
              2. environment variables: BGTASK_...
              3. the file of --config
              4. /etc/bgtask/conf.d/*.yaml, then /etc/bgtask/bgtaskd.yaml
                 (a user's host: the same files in $XDG_CONFIG_HOME/bgtask)
              5. /usr/share/bgtask/bgtaskd.yaml
            'bgtask config show' lists each value with the place that it comes from.

            bgtaskd runs in the foreground until it gets Ctrl-C or SIGTERM. It then asks all launches to stop, and \
            waits for them. A second Ctrl-C kills them. Without a terminal, SIGHUP makes it read the configuration \
            and all manifests again; it also reads them by itself when they change.

            EXAMPLES
              bgtaskd --plugins ./plugins --manifests ./manifests --state ./state --socket ./control.sock
              bgtaskd --config kiosk.yaml         # with one more configuration file
              bgtaskd --conditions simulated      # for tests: with invented conditions
              systemd-run --user --scope -p Delegate=yes bgtaskd      # with a cgroup of its own

            Exit codes: 0 the host stopped as it was asked to; 1 it could not start, or could not go on; \
            2 the command line is wrong.
            """, version: ProductVersion.current)

    @Option(
        help: "The directory with the libraries of the plugins. The default is \(HostPaths.standard.plugins)."
    )
    var plugins: String?

    @Option(help: "The directory with the manifests. The default is \(HostPaths.standard.manifests).")
    var manifests: String?

    @Option(
        help:
            "The directory with the files that define custom conditions. The default is conditions.d beside the directory of manifests."
    )
    var conditionsDirectory: String?

    @Option(
        help:
            "The directory for the store and the data of bundles. bgtaskd creates it if it is missing. The default is \(HostPaths.standard.state)."
    )
    var state: String?

    @Option(help: "The control socket. The default is \(HostPaths.standard.socket).")
    var socket: String?

    @Option(
        help:
            "The source of the conditions. With 'system', the host reads this machine. With 'simulated', it assumes external power, an unmetered network and an idle, cool machine, until 'bgtask conditions set' changes that. The default is 'system'."
    )
    var conditions: ConditionSource?

    @Option(help: "The runner program. By default, it is beside bgtaskd or in ../libexec/bgtask.")
    var runner: String?

    @Option(
        help:
            "The way to kill a launch with all its processes. The default is the strongest that the machine offers."
    )
    var isolation: EffectiveSettings.Isolation?

    @Option(help: "Unload a plugin after this number of seconds without a launch. The default is 300.")
    var templateIdle: Int?

    @Option(
        help: "Log lines of this level and above. The default is info.")
    var logLevel: LogLine.Level?

    @Option(
        help:
            "How to write the log: text, json or journal. The default is automatic: systemd's journal if systemd has connected standard error to it, else text."
    )
    var logFormat: LogFormat?

    @Option(
        help: ArgumentHelp(
            "One more configuration file. If it has an error, the host does not start.",
            valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "Look for usr/share/bgtask/bgtaskd.yaml and etc/bgtask in this directory instead of /. For system images and tests.",
            valueName: "directory"))
    var configRoot: String?

    @Flag(help: "Rename a damaged store, print its new name, and exit.")
    var setAsideStore = false

    /// Runs the command of this process's arguments, and ends the process with the exit codes of `bgtask`.
    ///
    /// For a wrong command line, the exit code is 2, and not ArgumentParser's 64.
    static func runAndExit() async -> Never {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            exit()
        } catch {
            if exitCode(for: error).isSuccess { exit(showing: fullMessage(for: error)) }
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            ProcessFacts.writeToStandardError(fullMessage(for: error) + "\n")
            exit(withError: ExitCode(2))
        }
    }

    /// Writes help or the version, which ArgumentParser throws as an error, and exits.
    ///
    /// ArgumentParser itself would exit with 0 even if nothing could be written.
    private static func exit(showing text: String) -> Never {
        do {
            try StandardStreams.write(text + "\n")
        } catch  where !error.isBrokenPipe {
            ProcessFacts.writeToStandardError("bgtaskd: the output is not complete: \(error)\n")
            exit(withError: ExitCode(1))
        } catch {}
        exit()
    }

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
