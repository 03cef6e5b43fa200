import Foundation
import TaskModel

/// What makes a push a silent one, which is the only kind that the host delivers.
///
/// As with Apple, a payload with an `aps` object must have `content-available` set to 1 in it; without that
/// it is a notification for a user to see. A payload without `aps` was written for this host, whose pushes
/// are all silent.
enum SilentPush {
    private struct Envelope: Decodable {
        let aps: Notification?
    }

    private struct Notification: Decodable {
        let contentAvailable: Int?

        private enum CodingKeys: String, CodingKey {
            case contentAvailable = "content-available"
        }
    }

    /// Refuses the payload of a push that is not silent.
    ///
    /// - Parameters:
    ///   - payload: JSON text; one that is not an object is left to the check of the payload itself.
    ///   - identifier: The push's, for messages.
    /// - Throws: A ``SubmissionError`` with the code `invalidRequest`.
    static func check(_ payload: String?, for identifier: TaskIdentifier) throws(SubmissionError) {
        guard let payload,
            let object = try? JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: Any],
            object["aps"] != nil
        else { return }
        let envelope = try? JSONDecoder().decode(Envelope.self, from: Data(payload.utf8))
        if let envelope, envelope.aps == nil || envelope.aps?.contentAvailable == 1 { return }
        throw SubmissionError(
            code: .invalidRequest, subject: identifier.rawValue,
            finding:
                "the payload has an \"aps\" without \"content-available\": 1, which is a notification for "
                + "the user and not a silent push",
            remedy: "Add \"content-available\": 1 to \"aps\", or leave \"aps\" out")
    }
}
