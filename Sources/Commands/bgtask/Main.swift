import BgtaskCommands

/// The program `bgtask`: all that it does is in BgtaskCommands.
@main
struct Main {
    static func main() {
        CommandLineTool.main()
    }
}
