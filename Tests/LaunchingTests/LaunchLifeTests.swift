import TaskModel
import Testing

@testable import Launching

@Suite struct LaunchLifeTests {
    typealias Event = LaunchLife.Event

    /// Feeds events to the state machine; returns the end of the launch and all actions.
    private static func run(_ events: [Event]) -> (end: LaunchEnd?, actions: [LaunchLife.Action]) {
        var life = LaunchLife(grace: .seconds(5))
        let actions = events.flatMap { life.handle($0) }
        for case .end(let end) in actions { return (end, actions) }
        return (nil, actions)
    }

    private static let up: [Event] = [.templateReady, .spawned, .ready]
    private static let exit = Event.exited(.exit(0), leftovers: 0)
    private static let segfault = Event.exited(.signal(11), leftovers: 0)
    private static let killed = Event.exited(.signal(9), leftovers: 0)

    struct Row: Sendable {
        let what: String
        let events: [Event]
        let outcome: Outcome
        let reason: Reason?
    }

    static let table: [Row] = [
        Row(what: "completed true", events: up + [yes, exit], outcome: .succeeded, reason: nil),
        Row(what: "completed false", events: up + [no, exit], outcome: .failed, reason: .handlerFailed),
        Row(
            what: "expired, then false", events: up + [lease, no, exit], outcome: .expired,
            reason: .leaseEnded),
        Row(
            what: "expired, then true", events: up + [lease, yes, exit], outcome: .succeeded,
            reason: .leaseEnded),
        Row(
            what: "nothing to run", events: up + [lease, nothing, exit], outcome: .expired,
            reason: .leaseEnded),
        Row(
            what: "deadline passed", events: up + [lease, .graceEnded, killed], outcome: .killed,
            reason: .leaseEnded),
        Row(
            what: "completion just before the deadline", events: up + [lease, yes, .graceEnded, exit],
            outcome: .succeeded, reason: .leaseEnded),
        Row(
            what: "completion just after the deadline", events: up + [lease, .graceEnded, yes, killed],
            outcome: .killed, reason: .leaseEnded),
        Row(what: "silent exit", events: up + [exit], outcome: .failed, reason: .exitedWithoutCompleting),
        Row(
            what: "exit when told to stop", events: up + [lease, exit], outcome: .expired, reason: .leaseEnded
        ),
        Row(what: "signal", events: up + [segfault], outcome: .crashed, reason: .signal),
        Row(
            what: "signal before ready", events: [.templateReady, .spawned, segfault], outcome: .crashed,
            reason: .signal),
        Row(
            what: "fault", events: up + [fault, .exited(.signal(6), leftovers: 0)], outcome: .crashed,
            reason: .signal),
        Row(
            what: "fault, then killed", events: up + [lease, fault, .graceEnded, killed], outcome: .killed,
            reason: .leaseEnded),
        Row(
            what: "fault after completion", events: up + [yes, fault, segfault], outcome: .succeeded,
            reason: nil),
        Row(what: "crash after completion", events: up + [yes, segfault], outcome: .succeeded, reason: nil),
        Row(
            what: "no library", events: [.templateFailed(finding: "no such file", status: nil)],
            outcome: .failed,
            reason: .loadFailed),
        Row(
            what: "crash in a constructor", events: [.templateFailed(finding: "died", status: .signal(11))],
            outcome: .crashed, reason: .signal),
        Row(what: "slow constructor", events: [.loadDeadlinePassed], outcome: .failed, reason: .loadFailed),
        Row(
            what: "slow entry", events: [.templateReady, .spawned, .loadDeadlinePassed, killed],
            outcome: .failed,
            reason: .loadFailed),
        Row(
            what: "no entry", events: [.templateReady, .spawned, .loadFailed(finding: "NULL"), exit],
            outcome: .failed, reason: .loadFailed),
        Row(
            what: "bad frame", events: up + [.violation(finding: "x", code: nil), killed], outcome: .killed,
            reason: .protocolError),
        Row(
            what: "beyond a limit, then false", events: up + [beyond, no, exit], outcome: .expired,
            reason: .memoryLimit),
        Row(
            what: "far beyond a limit", events: up + [farBeyond, killed], outcome: .killed,
            reason: .memoryLimit),
        Row(
            what: "far beyond a limit while it stops", events: up + [lease, beyond, farBeyond, killed],
            outcome: .killed, reason: .memoryLimit),
        Row(
            what: "beyond a limit after completion", events: up + [yes, beyond, killed], outcome: .succeeded,
            reason: nil),
        Row(
            what: "launcher died", events: up + [.launcherDied(message: "x")], outcome: .lost,
            reason: .launcherDied),
        Row(
            what: "launcher died after completion", events: up + [yes, .launcherDied(message: "x")],
            outcome: .succeeded, reason: nil),
        Row(
            what: "launcher died when the host had killed what a completed task left",
            events: up + [yes, .tidyingEnded, .launcherDied(message: "x")], outcome: .succeeded, reason: nil),
        Row(
            what: "launcher died while the host killed the launch",
            events: up + [lease, .graceEnded, .launcherDied(message: "x")], outcome: .lost,
            reason: .launcherDied),
        Row(
            what: "cancelled before it started", events: [.expire(.cancelledByUser)], outcome: .cancelled,
            reason: .cancelledByUser),
        Row(
            what: "cancelled while running", events: up + [.expire(.cancelledByUser), no, exit],
            outcome: .cancelled, reason: .cancelledByUser),
        Row(
            what: "unkillable", events: up + [lease, .graceEnded, .unkillable, killed], outcome: .killed,
            reason: .unkillable),
        Row(what: "completed twice", events: up + [yes, no, exit], outcome: .succeeded, reason: nil),
        Row(
            what: "completed before ready", events: [.templateReady, .spawned, yes, killed], outcome: .killed,
            reason: .protocolError),
        Row(
            what: "expired while it was spawned, which it hears when it is there",
            events: [.templateReady, lease, .spawned, .ready, no, exit], outcome: .expired,
            reason: .leaseEnded),
        Row(
            what: "expired while it was spawned, and has no handler",
            events: [.templateReady, lease, .spawned, nothing, exit], outcome: .expired, reason: .leaseEnded),
        Row(
            what: "expired while it was spawned, and never came to be",
            events: [.templateReady, lease, .spawnFailed(finding: "no")], outcome: .expired,
            reason: .leaseEnded),
        Row(
            what: "expired while it was spawned, and deaf",
            events: [.templateReady, lease, .spawned, .graceEnded, killed], outcome: .killed,
            reason: .leaseEnded),
    ]

    static let fault = Event.fault(LaunchFault(word: "0x8badf00d", text: "it leaked"))
    static let yes = Event.done(success: true, message: nil, isUnstarted: false)
    static let no = Event.done(success: false, message: nil, isUnstarted: false)
    static let nothing = Event.done(success: false, message: nil, isUnstarted: true)
    static let deaf = Event.done(success: false, message: nil, isUnstarted: true, isDeaf: true)
    static let lease = Event.expire(.leaseEnded)
    static let beyond = Event.limitPassed(.memoryLimit, note: "b")
    static let farBeyond = Event.limitPassed(.memoryLimit, note: "f", isFar: true)

    @Test func `an expiration that nothing listened to is no answer of the handler, once it was ready`() {
        let begun = [Event.templateReady, .spawned]
        for (events, neverListened) in [
            (begun + [.ready, Self.lease, Self.deaf], true),
            (begun + [.ready, Self.lease, Self.nothing], false),
            (begun + [Self.lease, Self.deaf], false), (begun + [.ready, Self.lease, Self.no], false),
        ] {
            let end = Self.run(events + [Self.exit]).end
            #expect(end?.neverListened == neverListened, "\(events)")
            #expect(end?.outcome == .expired && (end?.completion == nil) == (events.last != Self.no))
        }
    }

    @Test(arguments: [1.0, 0.1, 30]) func `the main thread is looked at within the grace period`(
        _ seconds: Double
    ) {
        let grace = Duration.seconds(seconds)
        let ladder = LadderStep.expiration(.leaseEnded, grace: grace)
        let waits = ladder.map { if case .wait(let time) = $0 { time } else { Duration.zero } }
        #expect(waits.reduce(.zero, +) == grace)
        #expect(ladder.last == .kill && ladder.contains(.lookAtThreads))
        #expect(waits[3] == min(.milliseconds(100), grace / 10))
    }

    @Test(arguments: table.indices) func `each row of the outcome table holds`(_ index: Int) throws {
        let row = Self.table[index]
        let end = try #require(Self.run(row.events).end, "\(row.what) has not ended")
        #expect(end.outcome == row.outcome, "\(row.what)")
        #expect(end.reason == row.reason, "\(row.what)")
    }

    @Test func `a kill at the deadline carries Apple's code, one for a violation does not`() {
        #expect(Self.run(Self.up + [Self.lease, .graceEnded, Self.killed]).end?.code == 0x8bad_f00d)
        let broken = Self.run(Self.up + [.violation(finding: "x", code: nil), Self.killed]).end
        #expect(broken?.code == nil && broken?.message == "x")
    }

    @Test func `a crash says its phase and signal`() {
        let load = Self.run([.templateFailed(finding: "died", status: .signal(6))]).end
        #expect(load?.phase == .load && load?.signal == 6)
        let run = Self.run(Self.up + [Self.segfault]).end
        #expect(run?.phase == .run && run?.signal == 11)
    }

    @Test func `leftovers are counted whatever the outcome`() {
        #expect(Self.run(Self.up + [Self.yes, .exited(.exit(0), leftovers: 3)]).end?.leftovers == 3)
    }

    @Test func `a spawn that fails is tried once more with a new template`() {
        let failure = Event.spawnFailed(finding: "gone")
        #expect(Self.run([.templateReady, failure]).actions == [.spawn, .prepare])
        let end = Self.run([.templateReady, failure, .templateReady, failure]).end
        #expect(end?.outcome == .failed && end?.message == "gone")
    }

    @Test func `a shortage of the host's own loses the launch, and does not fail it`() {
        let failure = Event.spawnFailed(finding: "clone3: EAGAIN", isShortage: true)
        let courses: [[Event]] = [
            [.templateFailed(finding: "socketpair: EMFILE", status: nil, isShortage: true)],
            [.templateReady, failure, .templateReady, failure],
            [
                .templateReady, .spawned, .loadFailed(finding: "no thread", isShortage: true),
                .exited(.exit(69), leftovers: 0),
            ],
        ]
        for events in courses {
            let end = Self.run(events).end
            #expect(end?.outcome == .lost && end?.reason == .shortage, "\(events)")
        }
    }

    @Test func `the ladder tells, waits for the grace and kills`() {
        let actions = Self.run(Self.up + [Self.lease]).actions
        #expect(
            actions.last
                == .climb([
                    .expire(.leaseEnded), .wait(.milliseconds(4900)), .lookAtThreads,
                    .wait(.milliseconds(100)), .kill,
                ]))
    }

    @Test func `what is beyond a limit is killed at once when its task has completed, and asked before`() {
        #expect(
            Self.run(Self.up + [Self.yes, Self.beyond, Self.beyond]).actions.suffix(2) == [.awaitExit, .kill])
        #expect(!Self.run(Self.up + [Self.beyond, Self.beyond]).actions.contains(.kill))
        #expect(Self.run(Self.up + [Self.lease, Self.farBeyond]).actions.last == .kill)
    }

    @Test func `only the first expiration counts`() {
        let (end, actions) = Self.run(Self.up + [Self.lease, .expire(.thermal), Self.no, Self.exit])
        #expect(end?.reason == .leaseEnded)
        #expect(actions.filter { if case .climb = $0 { true } else { false } }.count == 1)
    }

    /// Every event, for walks through all orders of events.
    private static let everyEvent: [Event] = [
        .templateReady, .templateFailed(finding: "f", status: nil), .loadDeadlinePassed, .spawned,
        .spawnFailed(finding: "f"), .ready, .loadFailed(finding: "f"), yes, no, nothing, lease, .graceEnded,
        .tidyingEnded, .kill(.simulated, message: "k"), .violation(finding: "v", code: nil), exit, segfault,
        .unkillable, .launcherDied(message: "l"), beyond, farBeyond,
    ]

    @Test func `after any three events in any order it ends once, and by its exit at the latest`() {
        for first in Self.everyEvent {
            for second in Self.everyEvent {
                for third in Self.everyEvent {
                    for prefix in [[], [.templateReady], [.templateReady, .spawned], Self.up] as [[Event]] {
                        let events = prefix + [first, second, third]
                        let sealed =
                            events + [.launcherDied(message: "l"), Self.exit, .launcherDied(message: "l")]
                        let ends = Self.run(sealed).actions.filter {
                            if case .end = $0 { true } else { false }
                        }
                        #expect(ends.count == 1, "\(events)")
                    }
                }
            }
        }
    }

    @Test func `whatever was killed was killed by the host, and nothing is killed twice but after spawned`() {
        for first in Self.everyEvent {
            for second in Self.everyEvent {
                let (end, actions) = Self.run(Self.up + [first, second, Self.exit])
                if end?.outcome == .killed { #expect(actions.contains(.kill), "\(first), \(second)") }
            }
        }
    }
}
