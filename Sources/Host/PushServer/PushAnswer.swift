import FoundationEssentials
import NIOHTTP1
import Pushes
import TaskModel

/// An answer to a sender of pushes: its status, and a JSON object.
struct PushAnswer {
    let status: HTTPResponseStatus
    let body: [UInt8]
    var headers = HTTPHeaders()

    private struct Accepted: Encodable {
        let request: String
        let isRepeat: Bool
    }

    private struct Refused: Encodable {
        let code, finding, remedy: String
    }

    /// The answer for a push that is durable.
    init(_ request: TaskRequest, isRepeat: Bool) {
        status = .accepted
        body = Self.line(Accepted(request: "\(request.id)", isRepeat: isRepeat))
    }

    /// The answer for a push that is refused.
    init(_ refusal: PushRefusal) {
        status = HTTPResponseStatus(statusCode: refusal.status)
        body = Self.line(
            Refused(code: refusal.code.rawValue, finding: refusal.finding, remedy: refusal.remedy))
        if refusal.code == .wrongMethod { headers.add(name: "allow", value: "POST") }
        if let seconds = refusal.retryAfter { headers.add(name: "retry-after", value: "\(seconds)") }
    }

    private static func line(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ((try? encoder.encode(value)).map(Array.init) ?? Array("{}".utf8)) + [UInt8(ascii: "\n")]
    }
}
