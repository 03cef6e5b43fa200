import TaskModel
import Testing

@testable import HostCore

/// Which requests of queues the scheduler gets, and when.
@Suite struct QueueBookTests {
    private let now = WallTime(milliseconds: 1_800_000_000_000)
    private static let encode = try! TaskIdentifier("com.example.encode")
    private var pending: [RequestID: TaskRequest] = [:]
    private var book = QueueBook()

    private mutating func add(
        _ number: Int64, _ priority: Int? = nil, date: Duration? = nil, power: Bool = false
    ) throws {
        var submission = TaskSubmission(
            identifier: Self.encode, origin: .client)
        submission.priority = priority
        submission.requiresExternalPower = power
        submission.earliestBeginDate = date.map { now + $0 }
        var request = TaskRequest(
            id: RequestID(rawValue: number), submission: submission,
            bundle: try BundleIdentifier("com.example"),
            kind: .processing, submittedAt: now, attempt: 1, notBefore: nil, deadline: now)
        request.isQueued = true
        pending[request.id] = request
        book.add(request)
    }

    private mutating func settle(_ order: QueueOrder = .priority, after wait: Duration = .zero) -> [String] {
        book.settle(at: now + wait, pending, [Self.encode: order], date: \.submission.earliestBeginDate).map {
            move in
            switch move {
            case .give(let id): "+\(id)"
            case .takeBack(let id): "-\(id)"
            }
        }
    }

    private mutating func start(_ number: Int64) throws {
        book.leave(try #require(pending[RequestID(rawValue: number)]))
    }

    @Test mutating func `one request at a time, the highest priority first, of several the oldest`() throws {
        try add(1, 3)
        try add(2, 7)
        try add(3, 7)
        try add(4)
        #expect(settle() == ["+R2"])
        #expect(settle() == [])
        var order: [String] = []
        for number: Int64 in [2, 3, 4, 1] {
            try start(number)
            order += settle()
        }
        #expect(order == ["+R3", "+R4", "+R1"])
    }

    @Test mutating func `without priorities, the oldest comes first`() throws {
        try add(2, 9)
        try add(1, 0)
        #expect(settle(.fifo) == ["+R1"])
    }

    @Test mutating func `a request of higher priority takes the place of the first one, which comes next`()
        throws
    {
        try add(1, 3)
        #expect(settle() == ["+R1"])
        try add(2, 9)
        #expect(settle() == ["-R1", "+R2"])
        try start(2)
        #expect(settle() == ["+R1"])
    }

    @Test mutating func `a request that was put back has its old place`() throws {
        for number: Int64 in 1...3 { try add(number) }
        #expect(settle() == ["+R1"])
        try start(1)
        #expect(settle() == ["+R2"])
        try add(1)
        #expect(settle() == ["-R2", "+R1"])
    }

    @Test mutating func `a request that waits for its date does not hold back those behind it`() throws {
        try add(1, 9, date: .seconds(60))
        try add(2, 0)
        #expect(settle() == ["+R2"])
        #expect(book.nextDate() == now + .seconds(60))
        book.release(until: now + .seconds(59))
        #expect(settle(after: .seconds(59)) == [])
        book.release(until: now + .seconds(60))
        #expect(settle(after: .seconds(60)) == ["-R2", "+R1"])
        #expect(book.nextDate() == nil)
    }

    @Test mutating func `a request that needs the charger does not hold back those that need none`() throws {
        try add(1, 9, power: true)
        try add(2, 9, power: true)
        try add(3, 0)
        #expect(Set(settle()) == ["+R1", "+R3"])
        try start(3)
        #expect(settle() == [])
    }

    @Test mutating func `an order that changes counts for those that wait`() throws {
        try add(1, 0)
        try add(2, 9)
        #expect(settle(.fifo) == ["+R1"])
        book.touchAll()
        #expect(settle(.priority) == ["-R1", "+R2"])
    }

    @Test mutating func `a cancelled request has no place`() throws {
        for number: Int64 in 1...3 { try add(number) }
        #expect(settle() == ["+R1"])
        for number: Int64 in 1...2 {
            let request = try #require(pending[RequestID(rawValue: number)])
            pending[request.id] = nil
            book.remove(request)
        }
        #expect(settle() == ["+R3"])
        #expect(book.count(of: Self.encode) == 1)
        let places = book.places(of: Self.encode, .fifo, in: pending)
        #expect(places == [RequestID(rawValue: 3): 0])
    }
}
