/// Reads the grammar `[WEEKDAYS] [DATE] [TIME]` and its shorthands; each error has the column of its mistake.
struct CalendarExpressionParser {
    /// A part of the text, with the column of its first character.
    struct Piece {
        var text: Substring
        var column: Int

        func split(on separator: String) -> [Piece] {
            var pieces: [Piece] = []
            var (start, column) = (text.startIndex, self.column)
            while let range = text[start...].firstRange(of: separator) {
                pieces.append(Piece(text: text[start..<range.lowerBound], column: column))
                column += text.distance(from: start, to: range.upperBound)
                start = range.upperBound
            }
            return pieces + [Piece(text: text[start...], column: column)]
        }

        func refused(_ finding: String, _ remedy: String) -> CalendarExpressionError {
            CalendarExpressionError(column: column, finding: finding, remedy: remedy)
        }
    }

    private static let shorthands = [
        "minutely": "*:*", "hourly": "*:00", "daily": "00:00", "weekly": "Mon 00:00",
        "monthly": "*-*-01 00:00", "yearly": "*-01-01 00:00",
    ]
    private static let weekdays = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
    static let form =
        "Write [WEEKDAYS] [DATE] [TIME], as in 'Mon..Fri 02:00', '*-*-01 04:30' or '*:0/15', or one of minutely, hourly, daily, weekly, monthly, yearly"

    private let text: String

    init(_ text: String) {
        self.text = text
    }

    func expression() throws(CalendarExpressionError) -> CalendarExpression {
        if let long = Self.shorthands[text.lowercased()] {
            let meant = try Self(long).expression()
            return CalendarExpression(
                text: text, weekdays: meant.weekdays,
                date: DatePattern(
                    years: meant.years, months: meant.months, days: meant.days, hasLastDay: meant.hasLastDay),
                time: TimePattern(
                    hours: meant.hours, minutes: meant.minutes, seconds: meant.seconds,
                    isEveryHour: meant.isEveryHour))
        }
        var parts = Piece(text: text[...], column: 1).split(on: " ").filter { !$0.text.isEmpty }[...]
        guard let first = parts.first, text.utf8.count <= 200 else {
            throw Piece(text: text[...], column: 1).refused(
                parts.isEmpty ? "the expression is empty" : "the expression is longer than 200 bytes",
                Self.form)
        }
        if let refusal = Self.cron(parts) { throw refusal }
        var weekdays = NumberSet(0...6)
        var date = DatePattern()
        var time = TimePattern()
        if first.text.first?.isLetter == true {
            weekdays = try self.weekdays(first)
            parts = parts.dropFirst()
        }
        var datePlace = first
        if let part = parts.first, !part.text.contains(":") {
            date = try self.date(part)
            datePlace = part
            parts = parts.dropFirst()
        }
        if let part = parts.first, part.text.contains(":") {
            time = try self.time(part)
            parts = parts.dropFirst()
        }
        if let rest = parts.first {
            throw rest.refused("unexpected part: '\(rest.text)'", Self.form)
        }
        let expression = CalendarExpression(text: text, weekdays: weekdays, date: date, time: time)
        guard expression.isPossible else {
            throw datePlace.refused(
                "no day of any year matches '\(text)'",
                "Weekday and date must both match. For the end of a month, write '*-*-last'")
        }
        return expression
    }

    /// The error for a line of a crontab; `nil` for other texts.
    private static func cron(_ parts: ArraySlice<Piece>) -> CalendarExpressionError? {
        let signs = "*,-/"
        guard let first = parts.first, parts.count == 5,
            parts.allSatisfy({ $0.text.allSatisfy { $0.isNumber || signs.contains($0) } })
        else { return nil }
        let line = parts.map { String($0.text) }
        var remedy = Self.form
        if let minute = Int(line[0]), let hour = Int(line[1]), (0...59).contains(minute),
            (0...23).contains(hour), line[2...] == ["*", "*", "*"]
        {
            func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
            remedy = "Write \"\(digits(hour)):\(digits(minute))\""
        }
        return first.refused("the five fields of cron are not supported", remedy)
    }

    private func weekdays(_ part: Piece) throws(CalendarExpressionError) -> NumberSet {
        var set = NumberSet()
        for item in part.split(on: ",") {
            let ends = item.split(on: "..")
            guard let first = ends.first, let last = ends.last, ends.count <= 2 else {
                throw item.refused("not a valid range of weekdays: '\(item.text)'", "Write it as Mon..Fri")
            }
            var (day, end) = (try weekday(first), try weekday(last))
            if end < day { end += 7 }
            while day <= end {
                set.insert(day % 7)
                day += 1
            }
        }
        return set
    }

    private func weekday(_ piece: Piece) throws(CalendarExpressionError) -> Int {
        let name = piece.text.lowercased()
        if name.count >= 3, let day = Self.weekdays.firstIndex(where: { $0 == name || $0.prefix(3) == name })
        {
            return day
        }
        let ends = piece.split(on: "-")
        if ends.count == 2, (try? weekday(ends[0])) != nil, (try? weekday(ends[1])) != nil {
            throw piece.refused(
                "not a weekday: '\(piece.text)'", "Write the range as \(ends[0].text)..\(ends[1].text)")
        }
        throw piece.refused(
            "not a weekday: '\(piece.text)'",
            "Use Mon, Tue, Wed, Thu, Fri, Sat, Sun, lists (Sat,Sun) and ranges (Mon..Fri)")
    }

    private func date(_ part: Piece) throws(CalendarExpressionError) -> DatePattern {
        let fields = part.split(on: "-")
        guard fields.count == 2 || fields.count == 3 else {
            throw part.refused(
                "'\(part.text)' is neither a date nor a time",
                "Write a date as YEAR-MONTH-DAY or MONTH-DAY, a time as HOUR:MINUTE. Each part may be *")
        }
        var date = DatePattern()
        if fields.count == 3, fields[0].text != "*" {
            var years: Set<Int> = []
            try FieldReader(name: "year", range: 1970...2199).read(fields[0]) { years.insert($0) }
            date.years = years.sorted()
        }
        let (month, day) = (fields[fields.count - 2], fields[fields.count - 1])
        date.months = try FieldReader(name: "month", range: 1...12).set(month)
        var days = NumberSet()
        for item in day.split(on: ",") {
            if item.text == "last" {
                date.hasLastDay = true
            } else {
                try FieldReader(name: "day", range: 1...31).read(item) { days.insert($0) }
            }
        }
        date.days = days
        return date
    }

    private func time(_ part: Piece) throws(CalendarExpressionError) -> TimePattern {
        let fields = part.split(on: ":")
        guard fields.count <= 3 else {
            throw part.refused("not a valid time: '\(part.text)'", "Write HOUR:MINUTE or HOUR:MINUTE:SECOND")
        }
        var time = TimePattern()
        time.isEveryHour = fields[0].text == "*"
        time.hours = try FieldReader(name: "hour", range: 0...23).set(fields[0])
        time.minutes = try FieldReader(name: "minute", range: 0...59).set(fields[1])
        if fields.count == 3 { time.seconds = try FieldReader(name: "second", range: 0...59).set(fields[2]) }
        return time
    }
}

/// Reads one field: a list of `*`, numbers and ranges `FROM..TO`, each with an optional `/STEP`.
private struct FieldReader {
    let name: String
    let range: ClosedRange<Int>

    func set(_ piece: CalendarExpressionParser.Piece) throws(CalendarExpressionError) -> NumberSet {
        var set = NumberSet()
        try read(piece) { set.insert($0) }
        return set
    }

    func read(
        _ piece: CalendarExpressionParser.Piece, _ insert: (Int) -> Void
    ) throws(CalendarExpressionError) {
        for item in piece.split(on: ",") {
            let stepped = item.split(on: "/")
            guard stepped.count <= 2 else {
                throw item.refused("'\(item.text)' has two steps", "Write it as FROM..TO/STEP")
            }
            let ends = stepped[0].split(on: "..")
            guard ends.count <= 2 else {
                throw item.refused("not a valid range: '\(item.text)'", "Write it as FROM..TO")
            }
            var (first, last) = (range.lowerBound, range.upperBound)
            if stepped[0].text != "*" {
                first = try number(ends[0])
                // After `FROM/STEP`, the range ends at the field's largest number.
                last = ends.count == 2 ? try number(ends[1]) : stepped.count == 2 ? range.upperBound : first
            }
            guard first <= last else {
                throw item.refused(
                    "the range '\(item.text)' ends before it begins", "Split it into two, with a comma")
            }
            var step = 1
            if stepped.count == 2 {
                guard let given = Self.digits(stepped[1].text), given >= 1, given <= range.count else {
                    throw stepped[1].refused(
                        "not a valid step for the \(name): '\(stepped[1].text)'",
                        "Use a whole number from 1 to \(range.count)")
                }
                step = given
            }
            for value in stride(from: first, through: last, by: step) { insert(value) }
        }
    }

    private func number(_ piece: CalendarExpressionParser.Piece) throws(CalendarExpressionError) -> Int {
        guard let number = Self.digits(piece.text), range.contains(number) else {
            throw piece.refused(
                piece.text.isEmpty
                    ? "the \(name) is missing" : "not a valid \(name): '\(piece.text)'",
                "Use \(range.lowerBound) to \(range.upperBound), or * for every \(name)")
        }
        return number
    }

    private static func digits(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 4, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}
