import ArgumentParser
import TaskModel

/// The command line of bgtask: `Documentation/CommandLine.md`.
struct Bgtask: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bgtask",
        abstract: "Submits background tasks, watches them run, and says why they wait.",
        discussion: """
            Examples:
              bgtask submit com.example.photos.cleanup --external-power --wait
              bgtask pending
              bgtask launches --identifier com.example.photos.cleanup --json
              bgtask conditions set power=battery:15% network=metered

            The command asks the host on the socket of --socket or $BGTASK_SOCKET, or
            on $XDG_RUNTIME_DIR/bgtask/control.sock or /run/bgtask/control.sock.

            Exit codes: 0 done; 1 an outcome other than succeeded, or a manifest with
            errors; 2 usage; 3 the host can't be reached; 4 the host refused.
            """,
        version: ProductVersion.current,
        subcommands: [
            SubmitCommand.self, PendingCommand.self, ExplainCommand.self, LaunchesCommand.self,
            ShowCommand.self,
            CancelCommand.self,
            LaunchCommand.self, ExpireCommand.self, PluginsCommand.self, LogsCommand.self,
            ConditionsCommand.self, SettingsCommand.self, UsedCommand.self, OpenCommand.self,
            PushCommand.self,
            AnswerCommand.self,
            RecordCommand.self, ReplayCommand.self, SimulateCommand.self,
            NewCommand.self, DevCommand.self, LintCommand.self, ManifestCommand.self, ConfigCommand.self,
            DoctorCommand.self,
            VersionCommand.self,
        ])
}
