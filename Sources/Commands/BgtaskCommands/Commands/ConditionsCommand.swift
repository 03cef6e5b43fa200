import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct ConditionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conditions",
        abstract: "Shows the conditions of the machine, or overrides them for tests.",
        discussion: """
            Examples:
              bgtask conditions
              bgtask conditions set power=battery:15% lowPower=on network=metered
              bgtask conditions set thermal=serious user=active
              bgtask conditions clear
            """,
        subcommands: [Show.self, Set.self, Clear.self], defaultSubcommand: Show.self)

    struct Show: HostCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Shows each condition with its source, and since when it has its value.")

        @OptionGroup var common: CommonOptions

        func run(asking client: ControlClient, console: Console) async throws {
            try console.print(conditions: await client.conditions())
        }
    }

    struct Set: HostCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Overrides conditions until 'bgtask conditions clear'.",
            discussion: """
                Keys and values:
                  power=external, power=charging:60%, power=battery:15%
                  lowPower=on|off
                  network=none|constrained|metered|unmetered
                  thermal=nominal|fair|serious|critical
                  user=active|idle
                  pressure=none, or one or more of cpu, memory and io: pressure=cpu,io
                  gpu=on|off
                  storage=SIZE, for example storage=2GiB
                  NAME=on|off, where NAME is a custom condition
                Each key also takes the value unknown, as if the source of the condition were gone. \
                If one setting is wrong, none of them takes effect.

                Examples:
                  bgtask conditions set power=battery:15%
                  bgtask conditions set network=none thermal=fair
                  bgtask conditions set docked=on
                """)

        @Argument(
            help: ArgumentHelp("A condition and its value.", valueName: "key=value"),
            completion: LiveNames.conditions)
        var settings: [String]

        @OptionGroup var common: CommonOptions

        func run(asking client: ControlClient, console: Console) async throws {
            try console.print(conditions: await client.setConditions(settings))
        }
    }

    struct Clear: HostCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear", abstract: "Removes all overrides: the real conditions count again.")

        @OptionGroup var common: CommonOptions

        func run(asking client: ControlClient, console: Console) async throws {
            try console.print(conditions: await client.clearConditions())
        }
    }
}

extension Console {
    /// Writes conditions, each with its source and its age.
    func print(conditions: [ConditionMessage]) throws {
        if json { return try print(json: conditions) }
        var table = Table("CONDITION", "VALUE", "SOURCE", "SINCE")
        for row in conditions {
            table.add(row.key, row.value, row.source, Wording.relative(row.since, to: now))
        }
        try print(table, ifEmpty: "The host has no conditions.")
    }
}
