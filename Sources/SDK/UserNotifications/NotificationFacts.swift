import Foundation

/// The content of a notification, as it is stored.
struct ContentFacts: Codable, Equatable {
    var title = ""
    var subtitle = ""
    var body = ""
    var badge: Int?
    /// The name of the sound.
    var sound: String?
    /// A property list in binary format.
    var userInfo: Data?
    /// Whether the app's `userInfo` was not a property list.
    var hasWrongUserInfo = false
    var categoryIdentifier = ""
    var threadIdentifier = ""
    var targetContentIdentifier: String?
    var interruptionLevel = UNNotificationInterruptionLevel.active.rawValue
    var relevanceScore = 0.0
    var attachments: [AttachmentFacts] = []

    /// The text for the user in one line: `Title: subtitle - body`; empty if there is none.
    var line: String {
        let details = [subtitle, body].filter { !$0.isEmpty }.joined(separator: " - ")
        return [title, details].filter { !$0.isEmpty }.joined(separator: ": ")
            .split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    static func encoded(_ userInfo: [AnyHashable: Any]) -> Data? {
        guard let keyed = userInfo as? [String: Any],
            PropertyListSerialization.propertyList(keyed, isValidFor: .binary)
        else { return nil }
        return try? PropertyListSerialization.data(fromPropertyList: keyed, format: .binary, options: 0)
    }

    static func decoded(_ bytes: Data) -> [AnyHashable: Any]? {
        try? PropertyListSerialization.propertyList(from: bytes, options: [], format: nil) as? [String: Any]
    }
}

/// An attachment, as it is stored.
struct AttachmentFacts: Codable, Equatable {
    var identifier: String
    var url: URL
    var type: String
}

/// When a notification is delivered, as it is stored.
enum TriggerFacts: Codable, Equatable {
    case interval(seconds: TimeInterval, repeats: Bool)
    case calendar(DateComponents, repeats: Bool)
    case push

    var repeats: Bool {
        switch self {
        case .interval(_, let repeats), .calendar(_, let repeats): repeats
        case .push: false
        }
    }

    /// The next date of delivery after a date; `nil` if there is none.
    func next(after date: Date) -> Date? {
        switch self {
        case .interval(let seconds, _): date + seconds
        case .calendar(let components, _):
            (components.calendar ?? .current).nextDate(
                after: date, matching: components, matchingPolicy: .nextTime)
        case .push: nil
        }
    }
}

/// A request or a delivered notification, as it is stored.
struct StoredNotification: Codable, Equatable {
    var identifier: String
    var content: ContentFacts
    var trigger: TriggerFacts?
    /// Of a pending request, when it is due; of a delivered notification, when it was delivered.
    var date: Date

    var request: UNNotificationRequest {
        UNNotificationRequest(
            identifier: identifier, content: UNNotificationContent(content),
            trigger: trigger.map { UNNotificationTrigger.make($0, due: date) })
    }
}
