import Testing

@testable import ControlServer

/// Which connections lose their places, as values.
@Suite struct ConnectionBookTests {
    private var book = ConnectionBook<Int>(places: 4, followerPlaces: 2)

    @Test mutating func `the connection that has waited longest makes room for the next`() {
        for key in 1...4 { book.open(key) }
        book.begin(1)
        #expect(book.relief() == 2)
        // It is closed only once, and counts no more.
        #expect(book.relief() == nil)
        book.close(2)
        book.open(5)
        #expect(book.relief() == 3)
    }

    @Test mutating func `the newest connection keeps its place, and an answered one goes first`() {
        for key in 1...3 {
            book.open(key)
            book.begin(key)
        }
        book.open(4)
        // Its request may be on its way.
        #expect(book.relief() == nil)
        book.end(2)
        #expect(book.relief() == 2)
        book.close(2)
        book.open(5)
        book.end(3)
        // 4 has waited longer than 3, but 3 has its answer.
        #expect(book.relief() == 3)
    }

    @Test mutating func `a place becomes free when an answer is complete or takes long`() {
        for key in 1...4 {
            book.open(key)
            book.begin(key)
        }
        #expect(book.relief() == nil)
        book.lapse(3)
        #expect(book.relief() == 3)
        book.close(3)
        book.open(5)
        book.begin(5)
        book.end(4)
        #expect(book.relief() == 4)
    }

    @Test mutating func `followers keep their places, and no more than their share`() throws {
        for key in 1...3 {
            book.open(key)
            book.begin(key)
        }
        try book.follow(1, process: 7)
        try book.follow(2, process: 7)
        #expect(throws: ConnectionBook<Int>.NoPlace(limit: 2, process: 7, held: 2)) {
            try book.follow(3, process: 8)
        }
        book.begin(1)
        // Following takes long, but that is no reason to end it.
        book.lapse(1)
        book.lapse(2)
        book.open(4)
        book.begin(4)
        #expect(book.relief() == nil)
        book.end(3)
        #expect(book.relief() == 3)
        book.close(1)
        try book.follow(4, process: 8)
        #expect(book.followers == 2)
    }

    @Test mutating func `a connection that is being closed comes back to nothing`() {
        for key in 1...4 { book.open(key) }
        #expect(book.relief() == 1)
        book.begin(1)
        #expect(throws: Never.self) { try book.follow(1, process: 7) }
        #expect(book.followers == 0)
        book.open(5)
        #expect(book.relief() == 2)
    }
}
