import Foundation
import HostCore
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling
@testable import Simulation

/// How often forecasts come true, on made-up days of three devices.
@Suite struct CalibrationTests {
    private static let day = Duration.seconds(86_400)

    private static func manifest() throws -> Manifest {
        let tasks = try ["powered", "p1"].map { name in
            var task = TaskDeclaration(
                pattern: try IdentifierPattern("com.example.a.\(name)"), kind: .processing)
            task.requiresExternalPower = name == "powered"
            return task
        }
        return Manifest(
            bundle: try BundleIdentifier("com.example.a"), library: nil, modes: [.processing], tasks: tasks,
            sandbox: SandboxDeclaration())
    }

    /// The conditions of a device's days, with its sleeps.
    private static func conditions(of kind: DeviceKind, days: Int, seed: UInt64) -> ConditionHistory {
        let start = VirtualMoments().now().wall
        let device = DeviceDays(kind, days: days, numbers: SeededNumbers(seed: seed), manifests: [])
        var changes: [(at: Duration, conditions: Conditions)] = []
        var sleepEnds: [(at: Duration, until: Duration)] = []
        for (at, occurrence) in device.occurrences {
            switch occurrence {
            case .input(.conditions(let conditions)): changes.append((at, conditions))
            case .sleep(let until, _): sleepEnds.append((at, until))
            default: break
            }
        }
        var history = ConditionHistory()
        var held = Conditions.simulatedStart
        let times = Set(changes.map(\.at) + sleepEnds.flatMap { [$0.at, $0.until] }).sorted()
        var index = 0
        for time in times {
            while index < changes.count, changes[index].at <= time {
                held = changes[index].conditions
                index += 1
            }
            let sleeps = sleepEnds.contains { $0.at <= time && time < $0.until }
            history.note(sleeps ? nil : held, at: start + time)
        }
        return history
    }

    /// The number of forecasts that gave a window, and the number of those whose request started in it.
    private static func share(
        of kind: DeviceKind, needing name: String, seed: UInt64, every hours: Int
    ) throws -> (said: Int, came: Int, before: Int) {
        let manifest = try manifest()
        let whole = conditions(of: kind, days: 28 + 7 * 6, seed: seed)
        var (said, came, before) = (0, 0, 0)
        for hour in stride(from: 28 * 24, to: (28 + 35) * 24, by: hours) {
            var now = VirtualMoments().now()
            now = now.advanced(by: .seconds(hour * 3600 + 1234))
            var past = ConditionHistory()
            for entry in whole.entries where entry.at <= now.wall {
                past.note(entry.conditions, at: entry.at)
            }
            guard let present = past.entries.last?.conditions else { continue }
            var scheduler = Scheduler()
            let submission = TaskSubmission(
                identifier: try TaskIdentifier("com.example.a.\(name)"), origin: .client)
            let request = TaskRequest(
                id: RequestID(rawValue: 1), submission: submission, bundle: manifest.bundle,
                kind: .processing,
                submittedAt: now.wall, attempt: 1, notBefore: nil, deadline: now.wall + day * 7)
            for event in [
                .handlersChanged([manifest]), .conditionsChanged(present), .submitted(request),
            ] as [SchedulerEvent] {
                _ = scheduler.handle(event, at: now)
            }
            guard !scheduler.explain(request, at: now).mayStart else { continue }
            let forecast = scheduler.forecast(request, from: past, at: now)
            guard let early = forecast.early, let late = forecast.late else { continue }
            let end = now.wall + Forecast.horizon
            let future = Array(whole.changes(from: now.wall, to: end))
            let start = scheduler.firstStart(of: request, under: future, from: now, until: end)
            said += 1
            if let start, early <= start, start <= late { came += 1 }
            if let start, start < early { before += 1 }
        }
        return (said, came, before)
    }

    // This is a part of the measurement in Documentation/Simulation.md, which is the test below. With few
    // windows, the share of this part can be further from 80 % than that of the whole.
    @Test func `about 80 % of the windows with 80 % come true`() throws {
        var (said, came) = (0, 0)
        for kind in [DeviceKind.laptop, .solarGateway, .phone] {
            let result = try Self.share(of: kind, needing: "powered", seed: 1, every: 9)
            said += result.said
            came += result.came
        }
        let share = Double(came) / Double(said)
        #expect(said > 60 && share >= 0.7 && share <= 0.9, "\(came) of \(said): \(share)")
    }

    /// Of the windows that are wrong, as many are too late as too early, however much the days weigh.
    ///
    /// The starts are equally likely at each time of a day, so only the choice of the window is tested.
    @Test(arguments: [(4, 16, 8), (4, 4, 20), (28, 0, 0)])
    func `windows come true with 80 %, and miss on both sides alike`(same: Int, near: Int, far: Int) {
        var numbers = SeededNumbers(seed: 7)
        let weights =
            Array(repeating: 1.0, count: same) + Array(repeating: 0.5, count: near)
            + Array(repeating: 0.1, count: far)
        func time() -> WallTime {
            WallTime(sinceEpoch: .milliseconds(Int64.random(in: 0...86_400_000, using: &numbers)))
        }
        let rounds = 20_000
        var (tooLate, tooEarly) = (0, 0)
        for _ in 0..<rounds {
            let courses = weights.map { Forecast.Course(start: time(), weight: $0) }
            let forecast = Forecast(courses: courses, unchanged: nil)
            guard let early = forecast.early, let late = forecast.late else { continue }
            let start = time()
            if start < early { tooLate += 1 }
            if start > late { tooEarly += 1 }
        }
        let shares = [tooLate, tooEarly].map { Double($0) / Double(rounds) }
        #expect(shares.allSatisfy { $0 > 0.09 && $0 < 0.115 }, "\(shares)")
    }

    /// The whole measurement in Documentation/Simulation.md: all devices, every 5 hours.
    ///
    /// It takes a minute, so it runs only if `BGTASK_CALIBRATION` is the number of seeds, there 6.
    @Test(.enabled(if: seeds > 0)) func `the windows of all devices come true as often as documented`() throws
    {
        var (said, came) = (0, 0)
        for kind in DeviceKind.allCases {
            for name in ["powered", "p1"] {
                var (saidHere, cameHere, beforeHere) = (0, 0, 0)
                for seed in 1...max(1, Self.seeds) {
                    let result = try Self.share(of: kind, needing: name, seed: UInt64(seed), every: 5)
                    saidHere += result.said
                    cameHere += result.came
                    beforeHere += result.before
                }
                print(
                    "calibration \(kind) \(name): \(cameHere) of \(saidHere), \(beforeHere) earlier than said"
                )
                (said, came) = (said + saidHere, came + cameHere)
            }
        }
        print("calibration of all: \(came) of \(said)")
        let share = Double(came) / Double(said)
        #expect(share >= 0.75 && share <= 0.85)
    }

    private static let seeds = Int(ProcessInfo.processInfo.environment["BGTASK_CALIBRATION"] ?? "") ?? 0
}
