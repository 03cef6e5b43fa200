import ArgumentParser
import Calendars
import ControlWire
import FoundationEssentials
import HandlerRegistry
import HostSettings
import LinuxSystem
import Scheduling
import Simulation
import TaskModel

/// The options that `replay` and `simulate` share: the rules to try, and the form of the result.
struct RunOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Use the manifests in this directory.", valueName: "directory"))
    var manifests: String?

    @Option(
        help: ArgumentHelp(
            "Look for the libraries of 'call' tasks of --manifests in this directory. The default is the plugins directory of the host.",
            valueName: "directory"))
    var plugins: String?

    @Option(
        help: ArgumentHelp(
            "Use the scheduling settings in this configuration file (see 'bgtask config').", valueName: "file"
        )
    )
    var policy: String?

    @Flag(
        help:
            "Show two runs side by side: one without the new rules, and one with them. For invented days, both runs have the tasks of --manifests."
    )
    var compare = false

    @Flag(help: "List every launch.")
    var launches = false

    @Flag(help: "Draw the conditions and the launches in the terminal.")
    var plot = false

    @Option(help: ArgumentHelp("Draw the same picture into an SVG file.", valueName: "file"))
    var svg: String?

    @Option(
        help: ArgumentHelp(
            "Draw only this day; the first one is 1. The default is all days.", valueName: "number"))
    var day: Int?

    @Flag(help: .json)
    var json = false

    func validate() throws {
        if compare, manifests == nil, policy == nil {
            throw ValidationError(
                "--compare needs new rules to compare. Give --manifests, --policy or both.")
        }
        if plugins != nil, manifests == nil {
            throw ValidationError("--plugins is for the manifests of --manifests. Give --manifests, too.")
        }
        if let day, day < 1 { throw ValidationError("Not a valid day: \(day). Days count from 1.") }
    }

    /// The scheduler's settings to try; `nil` keeps the settings of the run.
    func settings() throws -> SchedulerSettings? {
        guard let policy else { return nil }
        return try Self.complaining { try PolicyFile.schedulerSettings(fromFile: policy) }
    }

    /// The manifests to try; `nil` keeps the manifests of the run.
    func readManifests() throws -> [Manifest]? { try manifests.map { try readManifests(in: $0) } }

    /// The manifests in a directory; errors in them end the command.
    func readManifests(in manifests: String) throws -> [Manifest] {
        let (read, problems) = try Self.complaining {
            try ManifestLinter.manifests(in: manifests, calls: CallDefaults.search(plugins))
        }
        let errors = problems.filter { $0.severity == .error }
        guard errors.isEmpty else {
            for problem in errors { Console(json: json).complain("bgtask: \(problem)") }
            throw ExitCode(1)
        }
        return read
    }

    /// Computes dates that a recording does not contain, from the machine's time zone database.
    static let findDate: VirtualHost.DateFinder = { expression, zone, after in
        guard let zone = try? ZoneDatabase.machine.zone(named: zone),
            let calendar = try? CalendarExpression(expression)
        else { return nil }
        return calendar.next(after: after, in: zone)
    }

    /// Reports an error as text on standard error, and exits with the status of an invalid file.
    static func complaining<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as ExitCode {
            throw error
        } catch {
            // Some errors have a line for each problem.
            for line in "\(error)".split(separator: "\n") {
                Surroundings.current.errors("bgtask: \(Printable.text(String(line)))\n")
            }
            throw ExitCode(1)
        }
    }

    /// Draws the plots that the options request.
    func draw(
        _ tally: Tally, _ period: ClosedRange<WallTime>, title: String, offset: Duration, _ console: Console
    )
        throws
    {
        var (start, end) = (period.lowerBound, period.upperBound)
        if let day {
            let dayLength = Duration.seconds(86_400)
            start = start + dayLength * (day - 1)
            end = min(end, start + dayLength)
            guard start < end else {
                console.complain("bgtask: there is no day \(day); the last one is \(Self.days(period))")
                throw ExitCode(1)
            }
        }
        let plot = DayPlot(tally, from: start, until: end, title: title)
        if self.plot, !json {
            for line in plot.text(width: (console.width ?? 130) - 42, offset: offset) {
                try console.line(Printable.text(line))
            }
        }
        guard let svg else { return }
        do {
            try Data(plot.svg(offset: offset).utf8).write(to: URL(fileURLWithPath: svg))
        } catch {
            console.complain(
                "bgtask: \(Printable.text(svg)): the picture was not written: \(Self.cause(of: error)). Give --svg a file in a directory that exists and that you may write to"
            )
            throw ExitCode(1)
        }
    }

    /// The system's description of why a file was not written, such as `No such file or directory`.
    private static func cause(of error: any Error) -> String {
        guard let cause = (error as? CocoaError)?.underlying as? POSIXError else { return "\(error)" }
        return SystemCallError.text(of: cause.code)
    }

    private static func days(_ period: ClosedRange<WallTime>) -> Int {
        Int(((period.upperBound - period.lowerBound) / .seconds(86_400)).rounded(.up))
    }
}
