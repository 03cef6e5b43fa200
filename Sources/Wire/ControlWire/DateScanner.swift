import TaskModel

/// Parses an RFC 3339 time from left to right.
///
/// `Date.ISO8601FormatStyle` of FoundationEssentials cannot replace it: it reads 30 February as 2 March and
/// 25:00 as 01:00, ignores text after the time, and refuses a time without seconds. Its dates are
/// floating-point seconds, so 0.123 s becomes 122 ms.
struct DateScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = Substring(text).utf8
    }

    /// Parses the whole text; `nil` if it is not a valid time.
    mutating func scan() -> WallTime? {
        guard let year = number(digits: 4), take("-"), let month = number(digits: 2), take("-"),
            let dayOfMonth = number(digits: 2)
        else { return nil }
        let date = CivilDate(year: Int(year), month: Int(month), day: Int(dayOfMonth))
        guard date.exists else { return nil }
        let midnight = date.dayNumber * CivilDate.secondsPerDay * 1000
        if rest.isEmpty { return WallTime(milliseconds: midnight) }
        guard take("T") || take("t") || take(" "), let clock = clock(), let offset = offset(), rest.isEmpty
        else {
            return nil
        }
        return WallTime(milliseconds: midnight + clock - offset)
    }

    /// Parses `hh:mm`, `hh:mm:ss` or `hh:mm:ss.f`; returns milliseconds since midnight.
    private mutating func clock() -> Int64? {
        guard let hour = number(digits: 2), hour < 24, take(":"), let minute = number(digits: 2), minute < 60
        else {
            return nil
        }
        var milliseconds = (hour * 60 + minute) * 60_000
        if take(":") {
            guard let second = number(digits: 2), second < 61 else { return nil }
            milliseconds += second * 1000
            if take(".") {
                guard let fraction = fraction() else { return nil }
                milliseconds += fraction
            }
        }
        return milliseconds
    }

    /// Parses `Z`, `+hh:mm` or `-hh:mm`; returns milliseconds east of UTC.
    private mutating func offset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let sign: Int64
        if take("+") {
            sign = 1
        } else if take("-") {
            sign = -1
        } else {
            return nil
        }
        guard let hour = number(digits: 2), hour < 24, take(":"), let minute = number(digits: 2), minute < 60
        else {
            return nil
        }
        return sign * (hour * 60 + minute) * 60_000
    }

    /// Parses the digits after the decimal point; returns milliseconds, without what is smaller.
    private mutating func fraction() -> Int64? {
        var value: Int64 = 0
        var count = 0
        while let digit = digit() {
            if count < 3 { value = value * 10 + digit }
            count += 1
        }
        guard count > 0 else { return nil }
        while count < 3 {
            value *= 10
            count += 1
        }
        return value
    }

    private mutating func number(digits: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    private mutating func digit() -> Int64? {
        guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
            return nil
        }
        rest.removeFirst()
        return Int64(byte - UInt8(ascii: "0"))
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }
}
