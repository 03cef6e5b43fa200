import ArgumentParser
import TaskModel

/// The command line of `bgtask`, which Documentation/CommandLine.md describes.
struct Bgtask: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bgtask",
        abstract: "Submits background tasks, follows them, and explains why they wait.",
        discussion: """
            Examples:
              bgtask submit com.example.photos.cleanup --external-power --wait
              bgtask pending
              bgtask launches --identifier com.example.photos.cleanup --json
              bgtask conditions set power=battery:15% network=metered

            A request, such as R17, asks the host to run a task once. A launch, such as L42, is one \
            attempt to do so. The tasks of one manifest form a bundle.

            bgtask finds the host by the socket of --socket, else by $BGTASK_SOCKET, else by \
            $XDG_RUNTIME_DIR/bgtask/control.sock (~/.local/state/bgtask/control.sock without \
            XDG_RUNTIME_DIR), else by /run/bgtask/control.sock.

            An installed copy has the documents that messages name, such as Documentation/Call.md, in \
            share/doc/bgtask below its prefix, such as /usr/share/doc/bgtask.

            Exit codes: 0 the command did its work; 1 a launch did not succeed, or a file has \
            errors; 2 the command line is wrong; 3 no host answers; 4 the host refused.
            """,
        version: ProductVersion.current,
        subcommands: [
            RunCommand.self, SubmitCommand.self, RetryCommand.self, PendingCommand.self, TimersCommand.self,
            ExplainCommand.self,
            LaunchesCommand.self,
            ShowCommand.self, ReportCommand.self,
            CancelCommand.self,
            LaunchCommand.self, ExpireCommand.self, PluginsCommand.self, ReloadCommand.self, LogsCommand.self,
            ConditionsCommand.self, SettingsCommand.self, PauseCommand.self,
            DrainCommand.self, ResumeCommand.self, UsedCommand.self, OpenCommand.self,
            PushCommand.self, PushSecretCommand.self, PushEndpointsCommand.self, TransferCommand.self,
            TransfersCommand.self,
            AnswerCommand.self,
            RecordCommand.self, ReplayCommand.self, SimulateCommand.self,
            NewCommand.self, DevCommand.self, LintCommand.self, SignCommand.self,
            ManifestCommand.self, ImportCommand.self, ConfigCommand.self,
            DoctorCommand.self, SecurityCommand.self,
            VersionCommand.self,
        ])
}
