import ArgumentParser
import Scheduling
import Simulation
import TaskModel

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Runs the host's core on invented days of invented devices. Works without a host.",
        discussion: """
            The command uses the host's own decisions. It invents the conditions of each day, the uses of the apps \
            and the run time of each launch at random, from a seed that it prints. The same seed gives the same \
            launches on every machine. The run times are not those of your tasks: a refresh runs for 1 to 8 s, and \
            processing for 1 to 20 min at a third of a core, so a frequent processing task soon uses up its budget. \
            Without --manifests, the devices have four sample bundles: news, photos, \
            backup and maps.

            Devices:
            \(DeviceKind.allCases.map { "  \($0.rawValue): \($0.summary)" }.joined(separator: "\n"))

            Examples:
              bgtask simulate laptop --days 7
              bgtask simulate laptop --plot
              bgtask simulate phone kiosk --devices 1000 --seed 42
              bgtask simulate solarGateway --days 30 --manifests manifests --policy gateway.yaml --compare
              bgtask simulate phone --days 28 --habits
              bgtask simulate kiosk --days 7 --before old --manifests new --compare
            """)

    @Argument(help: "The kinds of devices. If you name several, the devices get them in turn.")
    var kinds: [DeviceKind] = [.laptop]

    @Option(help: "The number of days, 1 to 3660.") var days = 1
    @Option(help: "The number of devices, 1 to 1000000.") var devices = 1
    @Option(help: "The seed of the random numbers. The default is a new one each time.")
    var seed: UInt64?

    @Flag(
        help: ArgumentHelp(
            "Users with habits: they use each bundle at breakfast, at lunch and in the evening, at about the same times each day. The default is at random times."
        ))
    var habits = false

    @Option(
        help: ArgumentHelp(
            "For --compare: the manifests of the first run, such as those before a change.",
            valueName: "directory"))
    var before: String?

    @OptionGroup var options: RunOptions

    func validate() throws {
        guard (1...3660).contains(days) else {
            throw ValidationError("Not a valid number of days: \(days). Use 1 to 3660.")
        }
        guard (1...1_000_000).contains(devices) else {
            throw ValidationError("Not a valid number of devices: \(devices). Use 1 to 1000000.")
        }
        if before != nil, !options.compare || options.manifests == nil {
            throw ValidationError("--before is for --compare with --manifests. Give both, too.")
        }
        if options.compare, options.manifests != nil, before == nil, options.policy == nil {
            throw ValidationError(
                "Nothing to compare: both runs would have the tasks of --manifests and the standard settings. Give --policy to compare two settings, or --before with the manifests of the first run."
            )
        }
        let isDrawn = options.plot || options.svg != nil || options.launches
        if devices > 1, isDrawn {
            throw ValidationError("--plot, --svg and --launches show one device. Use --devices 1.")
        }
    }

    func run() async throws {
        let console = Console(json: options.json)
        do {
            try await simulate(console)
        } catch is Console.Closed {}
    }

    private func simulate(_ console: Console) async throws {
        let seed = seed ?? UInt64.random(in: 1...999_999)
        let samples = try SampleManifests.make()
        var fleet = Fleet(kinds: kinds, manifests: samples, seed: seed)
        (fleet.devices, fleet.days, fleet.hasHabits) = (devices, days, habits)
        var tried = fleet
        if let settings = try options.settings() { tried.settings = settings }
        if let manifests = try options.readManifests() {
            tried.manifests = manifests
            // The sample bundles have none of these tasks, so only a run with the same ones can be compared.
            fleet.manifests = try before.map { try options.readManifests(in: $0) } ?? manifests
        }
        if !options.json {
            try console.line(
                console.style.bold(
                    "\(devices) \(devices == 1 ? "device" : "devices"), \(days) \(days == 1 ? "day" : "days"), seed \(seed)"
                ))
        }
        guard devices == 1 else {
            return try await many(options.compare ? [fleet, tried] : [tried], console)
        }
        let fleets = options.compare ? [(first, fleet), ("tried", tried)] : [("simulated", tried)]
        let runs = fleets.map { name, fleet in
            (name: name, tally: fleet.run(device: 0, detail: .waits, findDate: RunOptions.findDate))
        }
        let period = Fleet.start...(Fleet.start + .seconds(86_400) * days)
        let title = "\(kinds[0].rawValue), seed \(seed)"
        try ReplayCommand.show(runs, title: title, period, .zero, options, console, seed: seed)
    }

    /// The name of the first of two runs.
    private var first: String { before == nil ? "standard" : "before" }

    private func many(_ fleets: [Fleet], _ console: Console) async throws {
        var summaries: [(name: String, summary: RunSummary)] = []
        for (index, fleet) in fleets.enumerated() {
            var summary = RunSummary()
            try await fleet.run(detail: .launches, findDate: RunOptions.findDate) { _, tally in
                summary.add(tally)
                if console.isLive, summary.runs % 100 == 0 || summary.runs == fleet.devices {
                    try console.write("\r\(summary.runs) of \(fleet.devices) devices")
                }
            }
            if console.isLive { try console.line() }
            summary.sort()
            summaries.append((fleets.count == 1 ? "simulated" : index == 0 ? first : "tried", summary))
        }
        if options.json {
            try console.print(
                json: RunsMessage(
                    runs: summaries.map { RunMessage($0.summary, named: $0.name) }, launches: nil,
                    seed: fleets[0].seed))
        } else if summaries.count == 2 {
            try console.print(summaries)
        } else {
            try console.print(summaries[0].summary)
        }
    }
}
