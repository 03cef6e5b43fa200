import TaskHostTestSupport
import TaskModel
import Testing

@testable import HostCore

/// The order of pending requests, from which listings are read in pages.
@Suite struct RequestOrderTests {
    @Test(arguments: 1...20)
    func `after any history, the pages together are the sorted pending requests`(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        var book = RequestBook()
        var next: Int64 = 0
        var gone: [TaskRequest] = []
        for _ in 0..<2000 {
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0..<4:
                next += 1
                book.insert(try request(next))
            case 4 where !gone.isEmpty:
                book.insert(gone.remove(at: Int.random(in: 0..<gone.count, using: &numbers)))
            case 5:
                next += 1
                book.foresee(try request(next))
            default:
                let ids = book.pending.keys.sorted()
                if let id = ids.randomElement(using: &numbers), let old = book.remove(id) { gone.append(old) }
            }
        }
        let wanted = book.durable.map(\.id).sorted()
        #expect(book.durableCount == wanted.count)
        for limit in [1, 7, 1000] {
            var (found, after): ([RequestID], RequestID?) = ([], nil)
            repeat {
                let page = book.page(after: after, limit: limit, tag: nil)
                #expect(page.rows.count == limit || page.next == nil)
                found += page.rows.map(\.id)
                after = page.next
            } while after != nil
            #expect(found == wanted)
        }
    }

    private func request(_ id: Int64) throws -> TaskRequest {
        let identifier = try TaskIdentifier("com.example.a.t\(id)")
        return TaskRequest(
            id: RequestID(rawValue: id), submission: TaskSubmission(identifier: identifier, origin: .client),
            bundle: try BundleIdentifier("com.example.a"), kind: .processing,
            submittedAt: WallTime(milliseconds: 1), attempt: 1, notBefore: nil,
            deadline: WallTime(milliseconds: 2))
    }
}
