import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

@testable import RequestStore

/// The quick way to write the record of a transfer.
@Suite struct TransferTextTests {
    /// A text with all that JSON escapes, and more.
    private static let texts = [
        "", "plain", "a/b\"c\\d", "\u{0}\u{1}\u{7}\u{8}\t\n\u{B}\u{C}\r\u{1F}\u{7F}", "é \u{1F9ED}\u{2028}",
    ]

    /// SplitMix64.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    @Test(arguments: Seeds.of(1...200))
    func `it is the text that the general way writes`(seed: Int) throws {
        var numbers = Numbers(state: UInt64(seed))
        func text() -> String { Self.texts.randomElement(using: &numbers) ?? "" }
        func maybe<Value>(_ value: @autoclosure () -> Value) -> Value? {
            Bool.random(using: &numbers) ? value() : nil
        }
        func number() -> Int64 { Int64.random(in: .min ... .max, using: &numbers) }
        func time() -> WallTime {
            WallTime(milliseconds: Int64.random(in: -9...2_000_000_000_000, using: &numbers))
        }
        var request = TransferRequest(
            bundle: try BundleIdentifier("com.example"),
            direction: Bool.random(using: &numbers) ? .upload : .download, url: text())
        (request.session, request.taskIdentifier) = (maybe(text()), maybe(Int(number())))
        (request.method, request.file, request.handover) = (maybe(text()), maybe(text()), maybe(text()))
        (request.note, request.headers) = (maybe(text()), [text(), text()])
        request.isDiscretionary.toggle()
        request.sendsLaunchEvents = Bool.random(using: &numbers)
        request.resumes = maybe(TransferID(rawValue: 9))
        request.earliestBeginDate = maybe(time())
        (request.expectedToSend, request.expectedToReceive) = (maybe(number()), maybe(number()))
        request.stallLimit = .milliseconds(number() >> 20)
        var transfer = Transfer(id: TransferID(rawValue: 17), request: request, submittedAt: time())
        (transfer.attempts, transfer.failures) = (3, 4)
        (transfer.completed, transfer.received, transfer.sent) = (number(), number(), number())
        (transfer.total, transfer.notBefore, transfer.endedAt) = (
            maybe(number()), maybe(time()), maybe(time())
        )
        transfer.response = maybe(TransferResponse(status: 404, url: text(), headers: [text()]))
        transfer.failure = maybe(TransferFailure(domain: .network, code: -7, message: text()))
        (transfer.state, transfer.outcome) = (.ended, maybe(.refused))
        (transfer.isTold, transfer.keepsPart) = (Bool.random(using: &numbers), Bool.random(using: &numbers))
        transfer.metrics = maybe(TransferMetrics("1 2 3 4 5 6 7 0 11 1 80 90 ::1 80 - 0")) ?? nil
        transfer.answer = maybe(text())
        let quick = try #require(TransferText.text(of: transfer))
        #expect(try quick == StoredJSON.text(of: StoredTransfer(transfer)))
        request.priority = 0.75
        transfer = Transfer(id: transfer.id, request: request, submittedAt: time())
        #expect(TransferText.text(of: transfer) == nil)
    }
}
