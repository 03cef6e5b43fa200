import ArgumentParser
import ControlClient
import ControlWire
import HostSettings
import TaskModel

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Shows and checks the configuration of the host.",
        discussion: """
            Examples:
              bgtask config show
              bgtask config show scheduling.refreshSpacing
              bgtask config check /etc/bgtask/conf.d/10-kiosk.yaml
              bgtask config keys
            """,
        subcommands: [Show.self, Check.self, Keys.self], defaultSubcommand: Show.self)

    struct Show: HostCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Shows each value that the host uses, its source, and the values that it overrides.",
            discussion: """
                With a key, the command shows that key only; with a section such as scheduling, paths or bundles, all keys of the section.

                Examples:
                  bgtask config show
                  bgtask config show scheduling.weights
                  bgtask config show scheduling.refreshSpacing --json
                """)

        @Argument(help: "A key or a section. The default is all keys.") var key: String?
        @OptionGroup var common: CommonOptions

        func run(asking client: ControlClient, console: Console) async throws {
            var listing = try await client.configuration()
            if let key {
                listing.values = listing.values.filter { $0.key == key || $0.key.hasPrefix(key + ".") }
                let isBundles = key == "bundles" || key.hasPrefix("bundles.")
                if listing.values.isEmpty, !isBundles {
                    let advice = SettingTable.advice(for: key)
                    throw ValidationError("Not a valid key: '\(Printable.text(key))'. \(advice)")
                }
            }
            try console.print(configuration: listing)
        }
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Checks configuration files with the code of the host. Works without a host.",
            discussion: """
                The command exits with 1 if a file has an error.

                Examples:
                  bgtask config check bgtaskd.yaml
                  bgtask config check /etc/bgtask/bgtaskd.yaml /etc/bgtask/conf.d/*.yaml --json
                """)

        @Argument(help: ArgumentHelp("Configuration files.", valueName: "file"))
        var files: [String]

        @Flag(help: .json)
        var json = false

        func run() throws {
            let console = Console(json: json)
            let problems = files.flatMap {
                SettingsFile.read($0, mayRestrict: true, isInForce: false).problems
            }
            do {
                if json {
                    try console.print(json: problems.map(ProblemMessage.init))
                } else if problems.isEmpty {
                    try console.line(
                        "No problems found in \(Wording.count(files.count, "file")).")
                } else {
                    try console.print(problems: problems.map(ProblemMessage.init))
                }
            } catch is Console.Closed {
                // The reader of the output has closed the pipe; the exit status still reports the errors.
            }
            if problems.contains(where: { $0.severity == .error }) { throw ExitCode(1) }
        }
    }

    struct Keys: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "keys",
            abstract: "Lists all keys with their default values, ranges and reasons. Works without a host.",
            discussion: """
                Examples:
                  bgtask config keys
                  bgtask config keys --json
                """)

        @Flag(help: .json)
        var json = false

        private struct Row: Encodable {
            var key: String
            var standard: String
            var range: String
            var environment: String
            var needsRestart: Bool
            var reason: String
        }

        func run() throws {
            let console = Console(json: json)
            let rows = SettingTable.documented(paths: .standard).map {
                Row(
                    key: $0.key.name, standard: $0.standard, range: $0.key.kind.summary,
                    environment: $0.variable, needsRestart: $0.key.needsRestart,
                    reason: $0.key.reason)
            }
            do {
                if json { return try console.print(json: rows) }
                var table = Table("KEY", "DEFAULT", "RANGE", "REASON")
                for row in rows { table.add(row.key, row.standard, row.range, row.reason) }
                try console.print(table, ifEmpty: "")
            } catch is Console.Closed {}
        }
    }
}

extension Console {
    fileprivate func print(configuration listing: ConfigurationMessage) throws {
        if json { return try print(json: listing) }
        if !listing.problems.isEmpty {
            try print(problems: listing.problems)
            try line()
        }
        for file in listing.files where file.state == .leftOut || file.state == .lastRightVersion {
            try line(
                style.red(
                    file.state == .leftOut
                        ? "\(Printable.text(file.path)) has errors. None of its values are in force."
                        : "\(Printable.text(file.path)) has errors. Its previous values are still in force."))
        }
        var table = Table("KEY", "VALUE", "FROM", "OVERRIDES")
        for row in listing.values {
            var others = row.overridden.filter { !$0.value.isEmpty }.map { "\($0.value) (\($0.source))" }
            if let next = row.afterRestart {
                others.insert("after a restart: \(next.value) (\(next.source))", at: 0)
            }
            table.add(row.key, row.value, row.source, others.joined(separator: ", "))
        }
        try print(table, ifEmpty: "No values are configured there.")
    }
}
