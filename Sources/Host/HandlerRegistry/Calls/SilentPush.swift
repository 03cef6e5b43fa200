import FoundationEssentials
import TaskModel

/// Checks that a push is silent, because the host delivers no other pushes.
///
/// As on Apple's systems, a payload with an `aps` object must set `content-available` to 1 in it. Otherwise,
/// the push is a notification for the user. A payload without `aps` was written for this host, and is silent.
enum SilentPush {
    private struct Envelope: Decodable {
        let isSilent: Bool

        private enum CodingKeys: CodingKey { case aps }

        init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: CodingKeys.self)
            if try !object.contains(.aps) || object.decodeNil(forKey: .aps) {
                isSilent = true
            } else {
                isSilent = (try? object.decode(Notification.self, forKey: .aps))?.contentAvailable == 1
            }
        }
    }

    private struct Notification: Decodable {
        let contentAvailable: Int?

        private enum CodingKeys: String, CodingKey {
            case contentAvailable = "content-available"
        }
    }

    /// The key of a payload that contains what Apple's servers read, and nothing for the task.
    static let envelope = "aps"
    /// The keys that no push from outside can have as a value of the task: ``envelope`` is an object, and by
    /// the other one the host announces endpoints.
    static let reserved = [envelope, "unifiedPush"]

    /// Refuses the payload of a push that is not silent.
    ///
    /// - Parameters:
    ///   - payload: JSON text; text that is not an object is accepted here, because another check refuses it.
    ///   - identifier: The identifier of the push, for messages.
    /// - Throws: ``SubmissionError`` with the code `invalidRequest`.
    static func check(_ payload: String?, for identifier: TaskIdentifier) throws(SubmissionError) {
        guard let payload,
            let envelope = try? JSONDecoder().decode(Envelope.self, from: Data(payload.utf8)),
            !envelope.isSilent
        else { return }
        throw SubmissionError(
            code: .invalidRequest, subject: identifier.rawValue,
            finding:
                "the payload has an \"aps\" without \"content-available\": 1, which is a notification for "
                + "the user and not a silent push",
            remedy: "Add \"content-available\": 1 to \"aps\", or leave \"aps\" out")
    }
}
