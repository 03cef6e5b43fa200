import Foundation
import MemoryStore
import TaskModel
import Testing

@testable import HostCore

/// Random histories of transfers: any report, condition, fault of the store, and death of the host in any
/// order.
///
/// A run has 200 histories. `BGTASK_HISTORIES=2000` makes a longer one.
@Suite struct TransferHistoryTests {
    static let count = ProcessInfo.processInfo.environment["BGTASK_HISTORIES"].flatMap { UInt64($0) } ?? 200

    @Test func `whatever happens, transfers keep their promises and end`() throws {
        for seed in 1...Self.count {
            var player = TransferPlayer(seed: seed)
            try player.play()
        }
    }
}

/// Plays one history and checks the host's promises after each step.
private struct TransferPlayer {
    let seed: UInt64
    var numbers: SeededNumbers
    var world = TransferWorld()
    /// The attempts that the program makes.
    var attempts: Set<TransferID> = []
    /// The attempts that the program begins when a place is free.
    var held: Set<TransferID> = []
    /// Files that the host puts into their places.
    var deliveries: Set<TransferID> = []
    var accepted: Set<TransferID> = []
    var ended: [TransferID: TransferOutcome] = [:]

    init(seed: UInt64) {
        self.seed = seed
        numbers = SeededNumbers(seed: seed)
    }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &numbers) }
    mutating func one(of ids: Set<TransferID>) -> TransferID? { ids.sorted().randomElement(using: &numbers) }

    func expect(_ holds: Bool, _ promise: @autoclosure () -> String) throws {
        if !holds { throw BrokenPromise("seed \(seed): \(promise())") }
    }

    mutating func play() throws {
        try obey()
        for _ in 0..<number(20..<120) {
            try act()
            try obey()
        }
        // Nothing goes wrong any more, so everything must end.
        world.failures = []
        world.give(.conditions(.simulatedStart))
        try obey()
        for _ in 0..<2000
        where world.core.transfers.hasOpen || !deliveries.isEmpty
            || !world.core.unsavedTransfers.isEmpty
        {
            for id in attempts.sorted() { report(id, .finished) }
            for id in deliveries.sorted() { deliver(id, nil) }
            world.pass(.seconds(600))
            try obey()
        }
        for id in accepted {
            let last = world.store.facts.transfers.first { $0.id == id }
            try expect(last?.state == .ended, "\(id) never ended: \(String(describing: last))")
        }
        try expect(attempts.isEmpty, "attempts \(attempts) go on without a transfer")
    }

    private mutating func act() throws {
        switch number(0..<24) {
        case 0..<5:
            let (server, bundle) = (number(0..<5), number(0..<3))
            let (isDiscretionary, isLimited, isLate) = (
                number(0..<3) == 0, number(0..<6) == 0, number(0..<5) == 0
            )
            let begin = world.now.wall + .seconds(100)
            let isKept = number(0..<4) == 0
            accepted.insert(
                try world.submit("http://s\(server)/x", bundle: "org.b\(bundle)") {
                    $0.isDiscretionary = isDiscretionary
                    if isLimited { $0.resourceLimit = .seconds(300) }
                    if isLate { $0.earliestBeginDate = begin }
                    if isKept { $0.file = nil }
                }.id)
        case 5..<11:
            guard let id = one(of: attempts) else { return }
            report(id, TransferAttemptEnd.Kind.allCases.randomElement(using: &numbers) ?? .lost)
        case 11:
            guard let id = one(of: attempts) else { return }
            let count = Int64(number(0..<1000))
            world.give(.transfers([.progress(id, completed: count, total: 1000, received: count, sent: 0)]))
        case 12, 13:
            guard let id = one(of: deliveries) else { return }
            deliver(id, number(0..<3) == 0 ? TransferFailure(.notDelivered, "full") : nil)
        case 14:
            guard let id = one(of: accepted) else { return }
            world.ask(.cancelTransfer(id))
        case 15:
            var conditions = Conditions.simulatedStart
            let isPlugged = number(0..<2) == 0
            conditions.power = .known(
                PowerCondition(externalPower: isPlugged, isCharging: false, batteryPercent: 80))
            let network = [NetworkCondition.none, .metered, .constrained, .unmetered][number(0..<4)]
            conditions.network = .known(network)
            world.give(.conditions(conditions))
        case 16, 17: world.pass(.seconds(number(1..<400)))
        case 18:
            world.failures = (0..<number(0..<3)).map { _ in
                .store(StoreError(code: .diskFull, subject: "disk", finding: "full", remedy: "free some"))
            }
        case 19: reportTogether()
        case 20..<22: replace()
        case 22:
            // The program dies, and loses what it has begun and what it holds.
            let lost = attempts.sorted() + held.sorted()
            (attempts, held) = ([], [])
            world.give(
                .transfers(lost.map { .ended($0, TransferWorld.attemptEnd(.lost), received: 0, sent: 0) }))
        default:
            // The host dies: what it did not store is lost, and so are the program and its reports.
            attempts = []
            held = []
            deliveries = []
            world.begin()
        }
    }

    /// Several reports in one message.
    private mutating func reportTogether() {
        var reports: [TransferReport] = []
        for id in attempts.shuffled(using: &numbers).prefix(4) {
            attempts.remove(id)
            let kind = TransferAttemptEnd.Kind.allCases.randomElement(using: &numbers) ?? .lost
            reports.append(.ended(id, TransferWorld.attemptEnd(kind, completed: 5), received: 5, sent: 0))
        }
        for id in deliveries.shuffled(using: &numbers).prefix(4) {
            deliveries.remove(id)
            let problem = number(0..<3) == 0 ? TransferFailure(.notDelivered, "full") : nil
            reports.append(.delivered(id, problem))
        }
        world.give(.transfers(reports))
    }

    /// An attempt ends, and one in reserve begins in its place; both may be told together or apart.
    private mutating func replace() {
        guard let old = one(of: attempts) else { return }
        let server = world[old]?.request.server
        let next = one(of: held.filter { world[$0]?.request.server == server })
        let isTogether = number(0..<2) == 0
        attempts.remove(old)
        let end = TransferReport.ended(
            old, TransferWorld.attemptEnd(.refused, completed: 5), received: 5, sent: 0)
        guard let next else { return world.give(.transfers([end])) }
        held.remove(next)
        attempts.insert(next)
        if isTogether { return world.give(.transfers([end, .began(next)])) }
        world.give(.transfers([.began(next), end]))
    }

    private mutating func report(_ id: TransferID, _ kind: TransferAttemptEnd.Kind) {
        attempts.remove(id)
        world.end(id, kind, completed: Int64(number(0..<1000)))
    }

    private mutating func deliver(_ id: TransferID, _ problem: TransferFailure?) {
        deliveries.remove(id)
        world.give(.transfers([.delivered(id, problem)]))
    }

    /// Obeys the host's orders as the program does, and checks each.
    private mutating func obey() throws {
        while !world.orders.isEmpty || !world.reserved.isEmpty {
            for id in world.reserved {
                try expect(!attempts.contains(id), "\(id) is reserved during an attempt")
                try expect(held.insert(id).inserted, "\(id) is reserved twice")
                try expect(ended[id] == nil, "\(id) is reserved after its end")
            }
            world.reserved = []
            if world.orders.isEmpty { break }
            switch world.orders.removeFirst() {
            case .promote(let id):
                // The program ignores this if it has begun or ended the attempt already.
                if held.remove(id) != nil { attempts.insert(id) }
            case .allow: break
            case .reserve: break
            case .begin(let transfer, _):
                try expect(attempts.insert(transfer.id).inserted, "\(transfer.id) has two attempts")
                try expect(accepted.contains(transfer.id), "\(transfer.id) begins, and was not accepted")
                try expect(ended[transfer.id] == nil, "\(transfer.id) begins after its end")
            case .cancel(let id):
                if attempts.contains(id) || held.remove(id) != nil { report(id, .cancelled) }
            case .deliver(let id, _): deliveries.insert(id)
            // Only tasks begin transfers for which these come.
            case .move, .discard: break
            case .remove(let id):
                let stored = world.store.facts.transfers.first { $0.id == id }
                // The files of a cancelled transfer go first, because its end may not fit on the disk with
                // them.
                let isCancelled = world[id]?.outcome == .cancelled
                try expect(
                    stored?.state == .ended || isCancelled,
                    "the files of \(id) are removed before its end is stored")
                try expect(
                    !attempts.contains(id) && !held.contains(id),
                    "the files of \(id) are removed during an attempt")
            case .sweep(let kept, _):
                try expect(attempts.isEmpty, "the host sweeps during \(attempts)")
                try expect(
                    world.store.facts.transfers.allSatisfy { $0.state == .ended || kept.contains($0.id) },
                    "the host sweeps the files of a transfer that goes on")
            }
        }
        for transfer in world.events where transfer.state == .ended {
            let stored = world.store.facts.transfers.first { $0.id == transfer.id }
            try expect(stored == transfer, "the end of \(transfer.id) is published before it is stored")
            let before = ended.updateValue(transfer.outcome ?? .failed, forKey: transfer.id)
            try expect(before == nil || before == transfer.outcome, "\(transfer.id) has two ends")
        }
        world.events = []
        let running = world.core.transfers.running
        try expect(running.count <= TransferBook.atOnce, "\(running.count) run")
        let servers = Dictionary(grouping: running) { world[$0]?.request.server ?? "" }
        for (server, ids) in servers {
            try expect(ids.count <= TransferBook.atOncePerServer, "\(ids.count) use \(server)")
        }
        try expect(running.isSubset(of: attempts), "\(running.subtracting(attempts)) run without an attempt")
        for id in accepted where !world.store.facts.transfers.contains(where: { $0.id == id }) {
            throw BrokenPromise("seed \(seed): \(id) was accepted, and is not stored")
        }
    }
}
