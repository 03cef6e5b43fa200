import TaskModel
import Testing

@testable import ControlServer

/// The `Date` header of answers, which the server updates without a timer.
@Suite struct DateHeaderTests {
    @Test(arguments: [
        (784_111_777_999, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (1_709_164_800_000, "Thu, 29 Feb 2024 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
    ])
    func `is the date as RFC 9110 writes it`(milliseconds: Int64, text: String) {
        let header = DateHeader()
        #expect(header.text(at: WallTime(milliseconds: milliseconds)) == text)
        #expect(header.text(at: WallTime(milliseconds: milliseconds)) == text)
    }
}
