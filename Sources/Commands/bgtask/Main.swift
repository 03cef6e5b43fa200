import BgtaskCommands

/// The program `bgtask`.
///
/// All its code is in BgtaskCommands.
@main
struct Main {
    static func main() {
        CommandLineTool.main()
    }
}
