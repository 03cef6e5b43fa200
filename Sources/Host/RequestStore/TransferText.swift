import TaskModel

/// Writes the JSON text of a transfer's record: the same text as ``StoredJSON`` makes of ``StoredTransfer``,
/// in a twentieth of the time.
///
/// Each small download has at least two records, so that time counts. Keys come in alphabetical order.
struct TransferText {
    private var bytes: [UInt8] = []
    /// Whether the next member is the first one of its object.
    private var isFirst = true

    private init() { bytes.reserveCapacity(1024) }

    /// The text of a transfer; `nil` if it has a value that only the general way can write.
    static func text(of transfer: Transfer) -> String? {
        // How a fraction is written is a matter of its own, and only tasks give a priority.
        guard transfer.request.priority == nil else { return nil }
        var writer = Self()
        writer.object { $0.write(transfer) }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private mutating func write(_ transfer: Transfer) {
        member("answer", transfer.answer)
        member("answerFile", transfer.answerFile)
        member("attempts", Int64(transfer.attempts))
        member("completed", transfer.completed)
        member("endedAt", transfer.endedAt)
        if let failure = transfer.failure {
            key("failure")
            object {
                $0.member("code", Int64(failure.code))
                $0.member("domain", failure.domain.rawValue)
                $0.member("message", failure.message)
            }
        }
        member("failures", Int64(transfer.failures))
        member("id", "\(transfer.id)")
        member("isTold", transfer.isTold)
        member("keepsPart", transfer.keepsPart)
        member("metrics", transfer.metrics?.text)
        member("notBefore", transfer.notBefore)
        member("outcome", transfer.outcome?.rawValue)
        member("received", transfer.received)
        key("request")
        object { $0.write(transfer.request) }
        if let response = transfer.response {
            key("response")
            object {
                $0.member("headers", response.headers)
                $0.member("status", Int64(response.status))
                $0.member("url", response.url)
            }
        }
        member("sent", transfer.sent)
        member("state", transfer.state.rawValue)
        member("submittedAt", transfer.submittedAt)
        member("total", transfer.total)
    }

    private mutating func write(_ request: TransferRequest) {
        member("allowsConstrained", request.allowsConstrained)
        member("allowsMetered", request.allowsMetered)
        member("asksBeforeBegin", request.asksBeforeBegin)
        member("bundle", request.bundle.rawValue)
        member("direction", request.direction.rawValue)
        member("earliestBeginDate", request.earliestBeginDate)
        member("expectedToReceive", request.expectedToReceive)
        member("expectedToSend", request.expectedToSend)
        member("file", request.file)
        member("handover", request.handover)
        member("headers", request.headers)
        member("isDiscretionary", request.isDiscretionary)
        member("method", request.method)
        member("note", request.note)
        key("resourceLimit")
        value(request.resourceLimit)
        member("resumes", request.resumes.map { "\($0)" })
        key("retryDelay")
        value(request.retryDelay)
        member("sendsLaunchEvents", request.sendsLaunchEvents)
        member("session", request.session)
        key("stallLimit")
        value(request.stallLimit)
        member("taskIdentifier", request.taskIdentifier.map(Int64.init))
        member("url", request.url)
    }

    // MARK: Members; those without a value are left out

    private mutating func key(_ name: StaticString) {
        if !isFirst { add(",") }
        isFirst = false
        add("\"")
        add(name)
        add("\":")
    }

    private mutating func member(_ name: StaticString, _ number: Int64?) {
        guard let number else { return }
        key(name)
        bytes += "\(number)".utf8
    }

    private mutating func member(_ name: StaticString, _ flag: Bool?) {
        guard let flag else { return }
        key(name)
        add(flag ? "true" : "false")
    }

    private mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        key(name)
        value(text)
    }

    private mutating func member(_ name: StaticString, _ texts: [String]) {
        key(name)
        add("[")
        for (index, text) in texts.enumerated() {
            if index > 0 { add(",") }
            value(text)
        }
        add("]")
    }

    private mutating func member(_ name: StaticString, _ time: WallTime?) {
        guard let time else { return }
        key(name)
        object {
            $0.key("sinceEpoch")
            $0.value(time.sinceEpoch)
        }
    }

    // MARK: Values

    private mutating func object(_ members: (inout Self) -> Void) {
        add("{")
        isFirst = true
        members(&self)
        isFirst = false
        add("}")
    }

    /// Swift encodes a duration as attoseconds, in two integers.
    private mutating func value(_ duration: Duration) {
        let attoseconds = duration.attoseconds
        bytes += "[\(Int64(truncatingIfNeeded: attoseconds >> 64)),".utf8
        bytes += "\(UInt64(truncatingIfNeeded: attoseconds))]".utf8
    }

    private mutating func value(_ text: String) {
        add("\"")
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): add("\\\"")
            case UInt8(ascii: "\\"): add("\\\\")
            case 0x08: add("\\b")
            case 0x09: add("\\t")
            case 0x0A: add("\\n")
            case 0x0C: add("\\f")
            case 0x0D: add("\\r")
            case ..<0x20:
                add("\\u00")
                for digit in [byte >> 4, byte & 15] {
                    bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
                }
            default: bytes.append(byte)
            }
        }
        add("\"")
    }

    private mutating func add(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
