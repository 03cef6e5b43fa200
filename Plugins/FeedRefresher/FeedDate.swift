import Foundation

/// The two formats of dates in feeds.
enum FeedDate {
    /// The seconds since 1970 of an RFC 822 date (RSS) or an ISO 8601 date (Atom); `nil` for any other text.
    static func seconds(_ text: String) -> Int? {
        if let date = try? Date(text, strategy: .iso8601) { return Int(date.timeIntervalSince1970) }
        return mail(text)
    }

    /// Reads `Mon, 02 Jan 2006 15:04:05 +0100`.
    ///
    /// The weekday is optional; the zone is a number, GMT, UT or Z.
    private static func mail(_ text: String) -> Int? {
        var words = text.split(whereSeparator: { $0 == " " || $0 == "," })
        if let first = words.first, Int(first) == nil { words.removeFirst() }
        let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        guard words.count >= 4, let day = Int(words[0]), let year = Int(words[2]),
            let month = months.firstIndex(of: words[1].prefix(3).lowercased())
        else { return nil }
        let clock = words[3].split(separator: ":").compactMap { Int($0) }
        guard clock.count >= 2 else { return nil }
        var parts = DateComponents()
        (parts.year, parts.month, parts.day) = (year < 100 ? 2000 + year : year, month + 1, day)
        (parts.hour, parts.minute, parts.second) = (clock[0], clock[1], clock.count > 2 ? clock[2] : 0)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        guard let date = calendar.date(from: parts) else { return nil }
        return Int(date.timeIntervalSince1970) - (words.count > 4 ? offset(words[4]) : 0)
    }

    private static func offset(_ zone: Substring) -> Int {
        guard let number = Int(zone), let sign = zone.first, sign == "+" || sign == "-" else { return 0 }
        let (hours, minutes) = abs(number).quotientAndRemainder(dividingBy: 100)
        return (hours * 3600 + minutes * 60) * number.signum()
    }
}
