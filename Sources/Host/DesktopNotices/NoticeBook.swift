public import TaskModel

/// A notification of an app, as a desktop shows it.
public struct DesktopNotice: Equatable, Sendable {
    /// The task that made it.
    public var identifier: TaskIdentifier
    /// The identifier that the app gave it.
    public var name: String
    /// The first line.
    public var summary: String
    /// The further text, without markup; empty if there is none.
    public var body: String
}

/// Which lines of the log become notices of a desktop, and which notices they replace.
public struct NoticeBook: Sendable {
    /// The subsystem of the lines that the module `UserNotifications` writes.
    public static let subsystem = "UserNotifications"
    /// The notices of one task, at once and then in each minute; and those of all tasks.
    ///
    /// Our choice: a person reads no more. Further notices are only in the log.
    public static let mostPerTask = 10, most = 30
    /// The most characters of a text: our choice; desktops show less.
    public static let longestText = 400
    /// How many notices can be replaced later: as many as a bundle keeps delivered ones.
    static let mostRemembered = 100

    /// A notice that was shown: its task and its name.
    private struct Key: Hashable {
        var identifier: TaskIdentifier
        var name: String
    }

    private struct Bucket {
        var left: Double
        var at: Duration

        mutating func take(_ most: Int, at now: Duration) -> Bool {
            left = min(Double(most), left + Double(most) * ((now - at) / .seconds(60)))
            at = now
            guard left >= 1 else { return false }
            left -= 1
            return true
        }
    }

    private var all: Bucket
    private var tasks: [TaskIdentifier: Bucket] = [:]
    private var shown: [Key: UInt32] = [:]
    private var order: [Key] = []
    /// Whether the last notice was refused, so that only the first of a row is reported.
    private var isOverflowing = false

    /// Makes an empty book.
    ///
    /// - Parameter boot: The time on CLOCK_BOOTTIME.
    public init(at boot: Duration) { all = Bucket(left: Double(Self.most), at: boot) }

    /// What a line of the log becomes.
    public enum Decision: Equatable, Sendable {
        /// The line is no notification.
        case none
        /// The notice is shown.
        case show(DesktopNotice)
        /// There were too many notices; `isFirst` is false for the following ones of a row.
        case tooMany(isFirst: Bool)
    }

    /// Decides about a line of the log.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - boot: The time on CLOCK_BOOTTIME.
    /// - Returns: What becomes of the line.
    public mutating func take(_ line: LogLine, at boot: Duration) -> Decision {
        guard line.source == .handler, line.subsystem == Self.subsystem, let task = line.identifier,
            !line.message.isEmpty
        else { return .none }
        // Names with a wildcard are countless; a full table forgets those that have their whole number again.
        if tasks.count >= Self.mostRemembered {
            tasks = tasks.filter { boot - $0.value.at < .seconds(60) }
        }
        var own = tasks[task] ?? Bucket(left: Double(Self.mostPerTask), at: boot)
        let isFree = own.take(Self.mostPerTask, at: boot) && all.take(Self.most, at: boot)
        tasks[task] = own
        guard isFree else {
            defer { isOverflowing = true }
            return .tooMany(isFirst: !isOverflowing)
        }
        isOverflowing = false
        let (summary, body) = Self.parts(of: line.message)
        return .show(
            DesktopNotice(identifier: task, name: line.category ?? "", summary: summary, body: body))
    }

    /// The number of the notice that a new one replaces; 0 if it replaces none.
    public func replaced(by notice: DesktopNotice) -> UInt32 {
        shown[Key(identifier: notice.identifier, name: notice.name)] ?? 0
    }

    /// Remembers the number that the desktop gave a notice.
    public mutating func remember(_ notice: DesktopNotice, number: UInt32) {
        let key = Key(identifier: notice.identifier, name: notice.name)
        order.removeAll { $0 == key }
        order.append(key)
        shown[key] = number
        if order.count > Self.mostRemembered { shown[order.removeFirst()] = nil }
    }

    /// Divides `Title: subtitle - body`, the text of a line.
    private static func parts(of message: String) -> (summary: String, body: String) {
        func cut(_ text: some StringProtocol) -> String {
            text.count > longestText ? text.prefix(longestText - 1) + "…" : String(text)
        }
        guard let colon = message.firstRange(of: ": ") else { return (cut(message), "") }
        return (cut(message[..<colon.lowerBound]), cut(message[colon.upperBound...]))
    }
}

extension String {
    /// The text with `&`, `<` and `>` as entities, because desktops read markup.
    public var withoutMarkup: String {
        reduce(into: "") { text, character in
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            default: text.append(character)
            }
        }
    }
}
