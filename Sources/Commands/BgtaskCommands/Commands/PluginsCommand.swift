import ArgumentParser
import ControlClient
import ControlWire
import LinuxSystem
import TaskModel

struct PluginsCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins",
        abstract: "Lists the plugins with their tasks, and the problems in manifests.",
        discussion: """
            Examples:
              bgtask plugins
              bgtask plugins --json
            """)

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let listing = try await client.plugins()
        if console.json { return try console.print(json: listing) }
        var table = Table(
            .spare("BUNDLE", 4), .identifier("IDENTIFIER"), "KIND", .spare("RUNS", 2), .spare("LEASE", 1),
            .spare("SCHEDULE", 6), .spare("NEEDS", 5), .spare("MANIFEST", 3))
        for plugin in listing.plugins {
            for task in plugin.tasks {
                let needs =
                    [
                        task.requiresExternalPower ? "power" : nil,
                        task.network == .unmetered
                            ? "unmetered network" : task.requiresNetworkConnectivity ? "network" : nil,
                    ].compactMap(\.self) + (task.needs ?? [])
                table.add(
                    plugin.bundle.rawValue, task.identifier.description, task.kind.rawValue,
                    task.runs == "library" ? plugin.library ?? "" : task.runs,
                    task.leaseSeconds.map(Wording.seconds) ?? "none",
                    task.schedule ?? "",
                    needs.joined(separator: ", "), plugin.manifest)
            }
        }
        try console.print(table, ifEmpty: "No plugin is installed.")
        if !listing.problems.isEmpty {
            try console.line()
            try console.print(problems: listing.problems)
        }
        let advised = listing.plugins.filter { $0.advice?.isEmpty == false }
        if !advised.isEmpty { try console.line() }
        for plugin in advised {
            for piece in plugin.advice ?? [] {
                let text = "\(plugin.bundle): advice: \(piece.message) [\(piece.code), \(piece.launch)]"
                try console.line(console.style.yellow(Printable.text(text)))
            }
        }
    }
}

extension Console {
    /// Writes problems as compilers do: `file:line:column: error: finding`.
    func print(problems: [ProblemMessage]) throws {
        for problem in problems {
            let text = Printable.text(problem.problem.description)
            try line(problem.severity == .error ? style.red(text) : style.yellow(text))
            if problem.problem.finding.hasPrefix("when: "), let excerpt = Self.excerpt(problem.problem) {
                for text in excerpt { try line("    " + Printable.text(text)) }
            }
        }
    }

    /// The line of a problem in its file, and a line with a caret below the column; `nil` if the file can't
    /// be read.
    private static func excerpt(_ problem: ManifestProblem) -> [String]? {
        guard let number = problem.line, let column = problem.column, number > 0, column > 0,
            let bytes = try? FileContents.read(problem.file, limit: 65_536)
        else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", maxSplits: number, omittingEmptySubsequences: false)
        guard lines.count >= number, lines[number - 1].count <= 200, column <= 201 else { return nil }
        return [String(lines[number - 1]), String(repeating: " ", count: column - 1) + "^"]
    }
}
