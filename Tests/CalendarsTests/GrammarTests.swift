import Calendars
import Testing

@Suite struct GrammarTests {
    @Test(arguments: [
        ("", 1, "the expression is empty"),
        ("Mon..Fry 02:00", 6, "not a weekday: 'Fry'"),
        ("Mon,,Tue", 5, "not a weekday: ''"),
        ("02:60", 4, "not a valid minute: '60'"),
        ("24:00", 1, "not a valid hour: '24'"),
        ("02", 1, "'02' is neither a date nor a time"),
        ("02:00:00:00", 1, "not a valid time: '02:00:00:00'"),
        ("*-13-01", 3, "not a valid month: '13'"),
        ("Mon  *-*-32 02:00", 10, "not a valid day: '32'"),
        ("1969-01-01", 1, "not a valid year: '1969'"),
        ("*:0/0", 5, "not a valid step for the minute: '0'"),
        ("18..8:00", 1, "the range '18..8' ends before it begins"),
        ("8..9..10:00", 1, "not a valid range: '8..9..10'"),
        ("0/2/3:00", 1, "'0/2/3' has two steps"),
        (":30", 1, "the hour is missing"),
        ("02:00 Mon", 7, "unexpected part: 'Mon'"),
        ("02:00 03:00", 7, "unexpected part: '03:00'"),
        ("*-02-30 02:00", 1, "no day of any year matches '*-02-30 02:00'"),
        ("Mon 2026-12-24", 5, "no day of any year matches 'Mon 2026-12-24'"),
        ("2027-02-29", 1, "no day of any year matches '2027-02-29'"),
        ("*:+5", 3, "not a valid minute: '+5'"),
        ("daily 02:00", 1, "not a weekday: 'daily'"),
    ])
    func `a wrong expression is refused with its column`(text: String, column: Int, finding: String) {
        #expect(throws: CalendarExpressionError.self) { try CalendarExpression(text) }
        do {
            _ = try CalendarExpression(text)
        } catch {
            #expect(error.column == column)
            #expect(error.finding == finding)
            #expect(!error.remedy.isEmpty)
        }
    }

    @Test(
        arguments: [
            ("0 2 * * *", "the five fields of cron are not supported", "Write \"02:00\""),
            ("Mon-Fri 02:00", "not a weekday: 'Mon-Fri'", "Write the range as Mon..Fri"),
        ])
    func `what other schedulers write gets advice`(text: String, finding: String, remedy: String) {
        #expect {
            try CalendarExpression(text)
        } throws: {
            let error = $0 as? CalendarExpressionError
            return error?.finding == finding && error?.remedy == remedy
        }
    }

    @Test func `no text brings the parser down`() {
        var random = SplitMix(seed: 7)
        let alphabet = Array("MonFri.,-:/*0123456789 last é")
        for _ in 0..<20_000 {
            let text = String((0..<random.below(14)).map { _ in alphabet[random.below(alphabet.count)] })
            _ = try? CalendarExpression(text)
        }
    }
}

/// Random numbers that are the same for the same seed.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }
}
