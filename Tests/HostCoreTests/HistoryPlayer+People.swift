import Launching
import TaskModel

@testable import HostCore

/// The actions of handlers, clients and people in a random history.
extension HistoryPlayer {
    // MARK: Tasks

    mutating func runTask() {
        guard let id = one(of: world.tasks.keys.sorted()), let task = world.tasks[id] else { return }
        guard task.isReady else {
            world.tasks[id]?.isReady = true
            world.inputs.append(.launch(.started(id, pid: 7)))
            return world.inputs.append(.launch(.ready(id, at: world.now)))
        }
        switch number(0..<11) {
        case 0: world.inputs.append(.launch(.progress(id, progress)))
        case 1, 2: world.inputs.append(.launch(.checkpoint(id, [UInt8(number(0..<9))])))
        case 3:
            let name = one(of: ["refresh", "work", "powered", "hourly"]) ?? "work"
            var submission = TaskSubmission(
                identifier: try! TaskIdentifier("\(task.order.record.bundle).\(name)"), origin: .handler)
            if chance(0.5) { submission.earliestBeginDate = world.now.wall + .seconds(600) }
            if chance(0.2) { submission.ifPending = .append }
            world.handlerCall { .submit(id, call: $0, submission) }
        case 4:
            let isAll = chance(0.5)
            world.handlerCall { .cancel(id, call: $0, isAll ? nil : task.order.record.identifier) }
        case 5: world.handlerCall { .pending(id, call: $0) }
        case 6 where faults.contains(.badTasks):
            world.end(id, LaunchEnd(outcome: chance(0.5) ? .crashed : .lost, reason: .signal))
        default:
            var end = LaunchEnd(outcome: .succeeded, reason: nil)
            if let expiration = task.expiration {
                end = LaunchEnd(outcome: .expired, reason: expiration)
                end.neverListened = chance(0.3)
            } else {
                end.completion = true
            }
            world.end(id, end)
        }
    }

    private var progress: TaskProgress {
        mutating get { TaskProgress(completed: Int64(number(0..<9)), total: 9) }
    }

    // MARK: Clients

    mutating func runClient() {
        if !world.awaits.isEmpty, chance(0.4) { return world.answerAwait(number(0..<world.awaits.count)) }
        guard let id = one(of: world.connectedClients), let client = world.clients[id], chance(0.85) else {
            return connect()
        }
        guard let launch = one(of: client.runs.keys.sorted()) else {
            if chance(0.15, of: .badClients) { return world.leave(id, isDead: chance(0.5)) }
            return submit(from: client.process)
        }
        switch number(0..<9) {
        case 0: world.report(launch, .progress(progress), process: client.process)
        case 1: world.report(launch, .checkpoint([UInt8(number(0..<9))]), process: client.process)
        case 2: world.report(launch, .title("Export", subtitle: "\(number(0..<9))"), process: client.process)
        case 3 where faults.contains(.badClients):
            world.report(launch, .progress(progress), process: client.process + 1)
        case 4 where faults.contains(.badClients):
            world.leave(id, isDead: chance(0.5))
            // This report was already on its way.
            if chance(0.3) {
                world.report(launch, .complete(success: true, message: nil), process: client.process)
            }
        case 5: submit(from: client.process)
        default:
            world.report(
                launch, .complete(success: chance(0.7), message: nil), process: client.process)
        }
    }

    private mutating func connect() {
        let bundle = one(of: VirtualManifests.bundles) ?? ""
        let names = chance(0.5) ? ["work", "export"] : ["export", "once"]
        world.connect(
            names.map { try! IdentifierPattern("\(bundle).\($0)") }, process: Int32(101 + number(0..<3)))
    }

    private mutating func submit(from process: Int32) {
        let bundle = chance(0.6) ? "com.example.c" : one(of: VirtualManifests.bundles) ?? ""
        let name = one(of: ["work", "export", "once"]) ?? ""
        var submission = TaskSubmission(identifier: try! TaskIdentifier("\(bundle).\(name)"), origin: .client)
        if chance(0.2) { submission.earliestBeginDate = world.now.wall + .seconds(900) }
        choose(&submission)
        world.submit(submission, from: process)
    }

    // MARK: People

    mutating func call() {
        let bundle = chance(0.5) ? "com.example.a" : "com.example.b"
        let names = ["refresh", "work", "powered", "once", "export", "call", "hourly", "nightly", "batch"]
        let identifier = try! TaskIdentifier("\(bundle).\(one(of: names) ?? "")")
        switch number(0..<20) {
        case 0..<7: submit(identifier)
        case 7: submitElsewhere(bundle)
        case 8..<11: world.call(.cancel(.identifier(identifier)))
        case 11: world.call(.simulate(identifier, debug: chance(0.3)))
        case 12 where chance(0.3): world.call(.cancel(.tag(try! Tag(chance(0.5) ? "red" : "blue"))))
        case 12:
            // In a real host, only the scheduler and the launch's monitors give most of these reasons.
            let reasons: [Reason] = [
                .simulated, .leaseEnded, .cpuLimit, .memoryLimit, .noProgress, .pressure, .userReturned,
            ]
            world.call(.expire(target(identifier), one(of: reasons) ?? .simulated))
        case 13, 14: change(try! BundleIdentifier(bundle))
        case 15:
            guard let id = one(of: world.core.launches.ids) else { return }
            world.call(.keepGoing(id, chance(0.6)))
        case 16: world.call(.pause(chance(0.5) ? .ended : .until(world.now.wall + .seconds(number(1..<900)))))
        default: world.call(.cancel(target(identifier)))
        }
    }

    private mutating func submit(_ identifier: TaskIdentifier) {
        var submission = TaskSubmission(identifier: identifier, origin: .client)
        if chance(0.3) { submission.idempotencyKey = "key-\(number(0..<3))" }
        if chance(0.3) { submission.earliestBeginDate = world.now.wall + .seconds(900) }
        choose(&submission)
        if identifier.rawValue.hasSuffix(".batch") {
            (submission.ifPending, submission.idempotencyKey) = (.replace, nil)
            submission.priority = chance(0.5) ? number(0..<10) : nil
            submission.requiresExternalPower = chance(0.2)
        }
        if submission.ifPending != .append, chance(0.15) {
            // Most of these are pending or running; some have ended, and some are of the same task.
            let requests = world.core.requests.pending.keys.sorted().suffix(4)
            submission.predecessors = requests.filter { _ in chance(0.6) }
            if chance(0.3) { submission.predecessors.append(RequestID(rawValue: Int64(number(1..<12)))) }
            if let running = one(of: world.core.launches.all.map(\.record.request).sorted()), chance(0.5) {
                submission.predecessors.append(running)
            }
        }
        let isBad = chance(0.2)
        if isBad { submission.payload = VirtualWorld.badPayload }
        let call = world.call(.submit(submission, from: nil))
        // Only payloads of `call:` tasks are checked.
        if isBad, identifier.rawValue.hasSuffix(".call") { world.refusedPayloads.insert(call) }
    }

    /// Adds what a client can say about a request besides its conditions.
    private mutating func choose(_ submission: inout TaskSubmission) {
        if chance(0.2) { submission.ifPending = chance(0.3) ? .keep : .append }
        if chance(0.2) { submission.tags = [try! Tag(chance(0.5) ? "red" : "blue")] }
        if chance(0.2) {
            submission.startDeadline = StartDeadline(
                date: world.now.wall + .seconds(number(1..<2000)), action: chance(0.7) ? .fail : .start)
        }
    }

    private mutating func submitElsewhere(_ bundle: String) {
        let bundle = try! BundleIdentifier(bundle)
        switch number(0..<5) {
        case 0:
            let unknown = try! TaskIdentifier("\(bundle).unknown")
            world.call(.submit(TaskSubmission(identifier: unknown, origin: .client), from: nil))
        case 1: world.connect([try! IdentifierPattern("\(bundle).unknown")], process: 101)
        case 2: world.call(.open(bundle))
        default:
            world.call(.push(PushOrder(to: bundle, payload: nil, chance(0.5) ? .considerate : .immediate)))
        }
    }

    private mutating func target(_ identifier: TaskIdentifier) -> ControlTarget {
        let launches = world.core.launches.all.map(\.record.id).sorted()
        let requests = world.core.requests.pending.keys.sorted()
        switch number(0..<3) {
        case 0: return one(of: launches).map { .launch($0) } ?? .identifier(identifier)
        case 1: return one(of: requests).map { .request($0) } ?? .identifier(identifier)
        default: return .request(RequestID(rawValue: Int64(number(1..<12))))
        }
    }

    private mutating func change(_ bundle: BundleIdentifier) {
        let changes: [BundleChange] = [
            .used, .dismissed, .budget(launches: 40, cpu: nil), .refresh(chance(0.5) ? .denied : .available),
            .foreground(chance(0.5)), .resumed, .resumed,
            .paused(until: chance(0.8) ? world.now.wall + .seconds(number(1..<900)) : nil),
        ]
        world.call(.change(bundle, one(of: changes) ?? .used))
    }
}
