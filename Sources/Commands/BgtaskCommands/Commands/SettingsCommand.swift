import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Shows or changes the budget of bundles, and whether they may refresh in the background.",
        discussion: """
            Examples:
              bgtask settings
              bgtask settings refresh com.example.feed deny
              bgtask settings dismiss com.example.feed
              bgtask settings budget com.example.feed --launches 12 --cpu 10m --burst 0.5
            """,
        subcommands: [Show.self, Refresh.self, Dismiss.self, Budget.self], defaultSubcommand: Show.self)

    struct Show: HostCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Shows whether each bundle may refresh in the background, and what it has spent today.")

        @OptionGroup var common: CommonOptions

        func run(asking client: ControlClient, console: Console) async throws {
            try console.print(bundles: await client.bundles())
        }
    }

    struct Refresh: HostCommand {
        /// What the user decides about background refresh.
        enum Choice: String, ExpressibleByArgument, CaseIterable {
            case allow, deny
        }

        static let configuration = CommandConfiguration(
            commandName: "refresh", abstract: "Allows or denies the background refresh of a bundle.",
            discussion: """
                The host refuses refresh, processing and push requests of a denied bundle, with the code \
                unavailable.

                Examples:
                  bgtask settings refresh com.example.feed deny
                  bgtask settings refresh com.example.feed allow
                """)

        @Argument(help: "The bundle.") var bundle: BundleIdentifier
        @Argument(help: "allow or deny.") var choice: Choice
        @OptionGroup var common: CommonOptions

        func run(asking client: ControlClient, console: Console) async throws {
            let permission: RefreshPermission = choice == .allow ? .available : .denied
            try console.print(bundle: await client.change(client.bundle(bundle), .refresh(permission)))
        }
    }

    struct Dismiss: HostCommand {
        static let configuration = CommandConfiguration(
            commandName: "dismiss", abstract: "Records that the user dismissed a bundle.",
            discussion: """
                The bundle gets no refresh and no push until the user uses it again. Its processing \
                tasks still run. The transfers of its background sessions are cancelled.

                Examples:
                  bgtask settings dismiss com.example.feed
                """)

        @Argument(help: "The bundle.") var bundle: BundleIdentifier
        @OptionGroup var common: CommonOptions

        func run(asking client: ControlClient, console: Console) async throws {
            try console.print(bundle: await client.change(client.bundle(bundle), .dismissed))
        }
    }

    struct Budget: HostCommand {
        static let configuration = CommandConfiguration(
            commandName: "budget",
            abstract:
                "Sets what a bundle may spend in a day. Without options, the standard budget applies again.",
            discussion: """
                Examples:
                  bgtask settings budget com.example.feed --launches 12 --cpu 10m
                  bgtask settings budget com.example.feed --launches 96 --burst 0.5
                  bgtask settings budget com.example.feed
                """)

        @Argument(help: "The bundle.") var bundle: BundleIdentifier
        // Unconditional, so that -1 is a wrong value and not an unknown option.
        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("The largest number of refresh launches per day.", valueName: "count"))
        var launches: Int?
        @Option(help: ArgumentHelp("The CPU time per day, such as 10m or 90s.", valueName: "duration"))
        var cpu: String?
        @Option(
            help: ArgumentHelp(
                "The share of both that is available at midnight, 0 to 1. The rest is added during the day.",
                valueName: "share"))
        var burst: Double?
        @OptionGroup var common: CommonOptions

        func validate() throws {
            if let launches, !(0...BundleChangeMessage.mostLaunches).contains(launches) {
                throw ValidationError(
                    "Not a valid number for --launches: \(launches). Use 0 to \(BundleChangeMessage.mostLaunches)."
                )
            }
            if let burst, !(0...1).contains(burst) {
                throw ValidationError("Not a valid share for --burst: \(burst). Use 0 to 1, such as 0.25.")
            }
            if let cpu, (try? DurationText.parse(cpu)) == nil {
                throw ValidationError(
                    "Not a valid duration for --cpu: '\(cpu)'. Use a number and a unit, such as 10m or 90s.")
            }
        }

        func run(asking client: ControlClient, console: Console) async throws {
            let time = try cpu.map { try DurationText.parse($0) }
            try console.print(
                bundle: await client.change(
                    client.bundle(bundle), .budget(launches: launches, cpu: time, burst: burst)))
        }
    }
}

extension Console {
    /// Writes a bundle after a command changed it.
    func print(bundle: BundleMessage) throws {
        if json { return try print(json: bundle) }
        try print(bundles: [bundle])
    }

    private static func time(_ seconds: Double) -> String {
        Wording.duration(.milliseconds(Int64(seconds * 1000)))
    }

    /// `1.5 MiB received (1 MiB metered), 2 KiB sent`.
    private static func text(_ bytes: TransferBytesMessage) -> String {
        func part(_ count: Int64, _ metered: Int64, _ verb: String) -> String {
            Wording.bytes(count) + " " + verb + (metered > 0 ? " (\(Wording.bytes(metered)) metered)" : "")
        }
        return part(bytes.received, bytes.meteredReceived, "received") + ", "
            + part(bytes.sent, bytes.meteredSent, "sent")
    }

    /// Writes bundles, one on each line.
    fileprivate func print(bundles: [BundleMessage]) throws {
        if json { return try print(json: bundles) }
        var table = Table(
            "BUNDLE", "REFRESH", "PAUSED", "DISMISSED", "LAST USED", "REFRESHES TODAY", "CPU TODAY",
            "ALLOWED AT MIDNIGHT", "WEIGHT", "SAVED WAKE-UPS", "TRANSFERRED TODAY")
        for row in bundles {
            table.add(
                row.bundle.rawValue + (row.isInstalled ? "" : " (not installed)"), row.refresh.rawValue,
                row.pausedSince == nil
                    ? "" : row.pausedUntil.map { "ends " + Wording.relative($0, to: now) } ?? "until resumed",
                row.dismissedAt.map { Wording.relative($0, to: now) } ?? "",
                row.lastUsed.map { Wording.relative($0, to: now) } ?? "",
                "\(row.launchesToday) of \(row.launchLimit)"
                    + (row.launchesByNow.map { " (\(Int($0.rounded(.up))) allowed by now)" } ?? ""),
                Self.time(row.cpuSecondsToday) + " of " + Self.time(row.cpuSecondsLimit)
                    + (row.cpuSecondsByNow.map { " (\(Self.time($0)) allowed by now)" } ?? ""),
                row.budgetBurst.map { "\(Int(($0 * 100).rounded())) %" } ?? "",
                row.weight.map { $0 == $0.rounded() ? "\(Int($0))" : "\($0)" } ?? "",
                "\(row.wakeUpsSaved)", row.transferredToday.map(Self.text) ?? "")
        }
        try print(table, ifEmpty: "No bundle is installed.")
    }
}
