public import ArgumentParser
public import Authoring
import TaskModel

extension PluginTemplate: ExpressibleByArgument {}

struct NewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Creates a new plugin: code, a manifest and a test.",
        discussion: """
            Templates:
              swift: a Swift package that uses Apple's BackgroundTasks API
              c: one C file that uses bgtask.h
              cpp: one C++ file that uses bgtask.h
              rust: a crate of Rust with the interface of bgtask.h
              python: a program in Python, with a manifest that runs it
              call: only a manifest, which calls functions of an installed library
              command: only a manifest, which contains a shell script or names a program

            The command never overwrites a file. A Swift plugin depends on the SDK package: the one of --sdk, else of \
            $BGTASK_SDK, else the one that is installed beside this program.

            With --header, 'bgtask new call' writes a call of the functions that you name, with the types \
            that the C header declares. It needs the header and a C compiler, and finds the library by itself if \
            it can. The plugin is named after the first function.

            Examples:
              bgtask new c hello
              bgtask new swift Feed --bundle com.example.feed
              bgtask new call greeter --directory ~/jobs/greeter
              bgtask new call --header zlib.h compressBound compress2
              bgtask new call --header curl/curl.h --library libcurl.so.4 curl_easy_init curl_easy_perform
              bgtask new command backup --bundle com.example.backup
              bgtask new python photo-index
            """)

    @Argument(help: "The template: swift, c, cpp, rust, python, call or command.")
    var template: PluginTemplate

    @Argument(
        help: ArgumentHelp(
            "The name of the plugin: a letter, then letters, digits, _ and, except in Swift, -. With --header, the functions to call.",
            valueName: "name"))
    var names: [String]

    @Option(
        help: ArgumentHelp(
            "A C header that declares the functions, as in an #include: zlib.h. Can be given more than once.",
            valueName: "header"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "The library with the functions, as 'ldconfig -p' lists it. The default is searched for.",
            valueName: "library"))
    var library: String?

    @Option(
        help: ArgumentHelp(
            "The directory for the files. The default is a directory with the name of the plugin.",
            valueName: "directory"))
    var directory: String?

    @Option(
        help: "The identifier of the bundle. The default is org.example.NAME.", completion: .default)
    var bundle: BundleIdentifier?

    @Option(help: ArgumentHelp("The SDK package, for the template swift.", valueName: "directory"))
    var sdk: String?

    @Flag(help: .json)
    var json = false

    func validate() throws {
        if !header.isEmpty, template != .call {
            throw ValidationError("Only the template 'call' can have --header.")
        }
        if header.isEmpty, library != nil { throw ValidationError("--library needs --header.") }
        if header.isEmpty, names.count > 1 {
            throw ValidationError("A plugin has one name. To call several functions, add --header HEADER.")
        }
    }

    func run() throws {
        let console = Console(json: json)
        try console.authoring {
            let draft =
                header.isEmpty
                ? nil
                : try CallDraft(
                    names, headers: header, library: library,
                    path: Surroundings.current.environment["PATH"] ?? "")
            // Names of functions can begin with an underscore, and names of plugins can't.
            let name = String(header.isEmpty ? names[0][...] : names[0].drop { $0 == "_" })
            let plugin = try NewPlugin(
                template, name: name, directory: directory, bundle: bundle, sdk: sdk, draft: draft)
            let paths = try plugin.write()
            if json {
                return try console.print(json: WrittenMessage(files: paths, next: plugin.nextSteps))
            }
            try console.line("Written:")
            for path in paths { try console.line("  \(path)") }
            try console.line("Next:")
            for step in plugin.nextSteps { try console.line("  \(step)") }
        }
    }
}

/// What `new --json` prints.
private struct WrittenMessage: Encodable {
    var files: [String]
    var next: [String]
}
