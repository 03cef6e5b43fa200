import Foundation

/// What the app checks in a request before the host gets it.
extension RequestFacts {
    /// The host's limit of a title or subtitle, in bytes.
    private static let longestTitle = 1024

    /// How far ahead a begin date can be without advice, in seconds; the host's own warning has the same
    /// limit.
    private static let farAhead: TimeInterval = 7 * 86_400

    /// Why the request's titles are refused, as a sentence; `nil` if they are accepted.
    var problemWithTitles: String? {
        guard kind == .continuedProcessing else { return nil }
        if title.allSatisfy(\.isWhitespace) {
            return "\(identifier): its title is empty. Give it the title that the user sees."
        }
        for (name, text) in [("title", title), ("subtitle", subtitle)]
        where text.utf8.count > Self.longestTitle {
            return
                "\(identifier): its \(name) has \(text.utf8.count) bytes; the limit is \(Self.longestTitle). "
                + "Give it a shorter \(name)."
        }
        return nil
    }

    /// Whether the request begins more than a week after a date; continued tasks ignore their begin date.
    func isFarAhead(of now: Date) -> Bool {
        guard kind != .continuedProcessing, let date = earliestBeginDate else { return false }
        return date.timeIntervalSince(now) > Self.farAhead
    }
}
