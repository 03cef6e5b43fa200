import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct AnswerCommand: HostCommand {
    /// The two answers to a question.
    enum Choice: String, ExpressibleByArgument, CaseIterable {
        case yes, no
    }

    static let configuration = CommandConfiguration(
        commandName: "answer",
        abstract: "Answers the host's question whether a slow launch should keep going.",
        discussion: """
            Without an answer, the launch goes on until a limit on its progress or its run time ends it. The \
            answer no stops it with the reason cancelledByUser.

            Examples:
              bgtask answer L42 yes
              bgtask answer L42 no
            """)

    @Argument(help: ArgumentHelp("The launch, such as L42.", valueName: "launch")) var launch: LaunchID
    @Argument(help: "yes or no.") var choice: Choice
    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let answer = try await client.answer(launch, keepGoing: choice == .yes)
        if console.json { return try console.print(json: answer) }
        try console.line(
            answer.keepGoing ? "\(launch) keeps going" : "The host asked \(launch) to stop: cancelledByUser")
    }
}
