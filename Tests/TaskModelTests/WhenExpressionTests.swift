import Foundation
import TaskModel
import Testing

/// The language of `when:`.
@Suite struct WhenExpressionTests {
    static let payload: [String: PayloadType] = [
        "urgent": .boolean, "count": .integer, "share": .number, "mode": .string,
    ]

    @Test(
        arguments: [
            ("battery >= 40 and (network == unmetered or payload.urgent)", nil),
            (
                "battery>=40%and(network==unmetered or not payload.urgent)",
                "battery >= 40 and (network == unmetered or not payload.urgent)"
            ),
            ("((charging))", "charging"), ("charging == true", "charging"),
            ("charging == false", nil), ("not not idle", nil), ("not (idle and charging)", nil),
            ("idle or charging and gpu", nil), ("(idle or charging) and gpu", nil),
            ("storage >= 2048MiB", "storage >= 2GiB"), ("hour >= 22 or hour < 6", nil),
            ("weekday == Sat or weekday == Sun", nil), ("thermal <= fair", nil),
            ("payload.mode == 'a \"b\"' and payload.share > -0.25", nil),
            ("payload.count != 12 and condition.lid-closed", nil), ("true and not false", nil),
        ] as [(String, String?)])
    func `a right expression has a standard form`(text: String, standard: String?) throws {
        #expect(try WhenExpression(text, payload: Self.payload).text == standard ?? text)
    }

    @Test(
        arguments: [
            ("", 1, "the expression is empty", "Write a test"),
            ("batteries >= 40", 1, "there is no fact 'batteries'", nil),
            ("charging and batteries >= 40", 14, "there is no fact 'batteries'", nil),
            ("battery >=", 11, "a value is missing: 'battery' is a percentage", "Write one, such as 40%"),
            (
                "battery", 8, "'battery' is a percentage from 0 to 100, so it needs a comparison",
                "battery >= 40%"
            ),
            (
                "battery >= 140", 12, "'battery' is a percentage from 0 to 100, and '140' is not",
                "Use 0% to 100%"
            ),
            ("network >= metered", 9, "'network' can't be compared with '>='", "Use == or !="),
            ("network == meterd", 12, "'meterd' is not a value of 'network'", nil),
            ("hour == 24", 9, "'hour' is a whole hour from 0 to 23", nil),
            ("storage > 2GB", 11, "not a valid size: '2GB'", "Use 2GiB"),
            ("40 <= battery", 1, "a test begins with a fact, found '40'", "Write the fact first"),
            ("charging = true", 10, "'=' has no meaning here", "Write '=='"),
            ("charging && idle", 10, "'&' has no meaning here", "Write 'and'"),
            ("(charging", 10, "the parenthesis of column 1 is not closed", "Add ')'"),
            ("charging)", 9, "no parenthesis is open here", "Remove ')'"),
            ("charging idle", 10, "'idle' does not follow", "Write 'and' or 'or'"),
            ("charging and", 13, "the expression ends where a test is expected", nil),
            ("payload.size > 3", 1, "the task declares no payload key 'size'", nil),
            ("payload.mode == full", 17, "'payload.mode' is a text in quotation marks", "Write \"text\""),
            ("payload.mode == \"full", 17, "the text that begins here has no end", nil),
            ("condition.Docked", 1, "'condition.Docked' does not name a custom condition", nil),
            ("battery >= 40 %", 15, "'%' has no meaning here", "directly after its number"),
        ] as [(String, Int, String, String?)])
    func `a mistake has a position and a remedy`(text: String, column: Int, finding: String, remedy: String?)
    {
        let error = #expect(throws: WhenError.self) { try WhenExpression(text, payload: Self.payload) }
        #expect(error?.column == column)
        #expect(error?.finding.hasPrefix(finding) == true, "\(error?.finding ?? "")")
        if let remedy { #expect(error?.remedy?.contains(remedy) == true, "\(error?.remedy ?? "")") }
        #expect(error?.remedy != nil || error?.unknown?.candidates.isEmpty == false)
    }

    @Test func `length, tests and depth have limits`() throws {
        let atMost = (0..<64).map { _ in "idle" }.joined(separator: " or ")
        #expect(try WhenExpression(atMost, payload: [:]).tests.count == 64)
        #expect(throws: WhenError.self) { try WhenExpression(atMost + " or idle", payload: [:]) }
        let deep = String(repeating: "(", count: 16) + "idle" + String(repeating: ")", count: 16)
        #expect(try WhenExpression(deep, payload: [:]).text == "idle")
        #expect(throws: WhenError.self) { try WhenExpression("(\(deep))", payload: [:]) }
        #expect(throws: WhenError.self) {
            try WhenExpression(String(repeating: "(", count: 1024), payload: [:])
        }
        #expect(throws: WhenError.self) {
            try WhenExpression("idle" + String(repeating: " ", count: 1024), payload: [:])
        }
        #expect(throws: WhenError.self) {
            try WhenExpression(String(repeating: "not ", count: 17) + "idle", payload: [:])
        }
    }

    @Test(arguments: 1...40)
    func `any bytes are an expression or a mistake inside the text`(seed: Int) {
        var numbers = SeededNumbers(seed: UInt64(seed))
        let words = [
            "battery", ">=", "40%", "(", ")", "and", "or", "not", "payload.urgent", "\"", "'", "-", "2GiB",
            "é",
            "\u{0}", "==", "true", "condition.x", "1.5", "..", "\u{1F600}", "\n",
        ]
        for _ in 0..<500 {
            let text: String
            if Bool.random(using: &numbers) {
                let bytes = (0..<Int.random(in: 0...40, using: &numbers)).map { _ in
                    UInt8.random(in: 0...255, using: &numbers)
                }
                text = String(decoding: bytes, as: UTF8.self)
            } else {
                text = (0..<Int.random(in: 0...20, using: &numbers))
                    .map { _ in words.randomElement(using: &numbers) ?? "" }.joined(separator: " ")
            }
            do {
                let read = try WhenExpression(text, payload: Self.payload)
                #expect(throws: Never.self) {
                    let again = try WhenExpression(read.text, payload: Self.payload)
                    #expect(again == read)
                }
            } catch {
                #expect((1...(text.unicodeScalars.count + 1)).contains(error.column), "\(text)")
            }
        }
    }

    @Test(arguments: 1...40)
    func `what is printed is read as the same expression, also from a recording`(seed: Int) throws {
        var numbers = SeededNumbers(seed: UInt64(seed))
        for _ in 0..<100 {
            let expression = WhenExpression(root: Self.node(&numbers, depth: 4))
            guard expression.tests.count <= WhenExpression.mostTests,
                expression.text.utf8.count <= WhenExpression.longest
            else { continue }
            #expect(try WhenExpression(expression.text, payload: Self.payload) == expression)
            let encoded = try JSONEncoder().encode(expression)
            #expect(try JSONDecoder().decode(WhenExpression.self, from: encoded) == expression)
        }
    }

    @Test(arguments: 1...40)
    func `its value is that of a plain reference, and the advice of the analysis helps`(seed: Int) {
        var numbers = SeededNumbers(seed: UInt64(seed))
        for _ in 0..<100 {
            let expression = WhenExpression(root: Self.node(&numbers, depth: 4))
            var values: [WhenFact: WhenValue] = [:]
            for test in expression.tests where Int.random(in: 0..<4, using: &numbers) > 0 {
                values[test.fact] = Self.value(of: test.fact, &numbers)
            }
            let value = expression.value { values[$0] }
            let positive = expression.withoutNegations
            #expect(positive.value { values[$0] } == value, "\(expression.text): \(positive.text)")
            #expect(value == Self.reference(expression.root) { values[$0] }, "\(expression.text)")

            // The payload's values can be filled in before.
            let resolved = expression.resolved { key in
                Self.payload[key].flatMap { values[.payload(key, $0)] }
            }
            #expect(resolved.payloadKeys.isEmpty)
            #expect(resolved.value { values[$0] } == value, "\(expression.text)")

            let analysis = WhenAnalysis(expression) { values[$0] }
            #expect(analysis.value == value)
            #expect((value == true) == (analysis.failing.isEmpty && analysis.needed.isEmpty) || value != true)
            if value == true { continue }
            // A clause that is enough alone is a set of one, unless it can't change.
            if analysis.failing.contains(where: { $0.isEnough && !$0.isOfPayload }) {
                #expect(analysis.needed.count == 1)
            }
        }
    }

    @Test func `the analysis names the clause that would be enough`() throws {
        let text = "battery >= 40 and (network == unmetered or payload.urgent)"
        let expression = try WhenExpression(text, payload: Self.payload)
        func analysis(_ battery: Double, _ network: String, _ isUrgent: Bool?) -> WhenAnalysis {
            WhenAnalysis(expression) { fact in
                switch fact {
                case .machine(.battery): .number(battery)
                case .machine(.network): .text(network)
                default: isUrgent.map(WhenValue.boolean)
                }
            }
        }
        #expect(analysis(50, "unmetered", false).failing.isEmpty)
        let low = analysis(15, "unmetered", false)
        #expect(low.failing.map(\.observed) == ["battery is 15 %", "payload.urgent is false"])
        #expect(low.failing.map(\.isEnough) == [true, false])
        let both = analysis(15, "metered", false)
        #expect(both.failing.map(\.isEnough) == [false, false, false])
        #expect(both.needed.count == 2 && both.needed[0].text == "battery >= 40")
        #expect(analysis(50, "metered", nil).value == nil)
        #expect(analysis(15, "metered", nil).value == false)
    }

    @Test(
        arguments: [
            (
                #"{"urgent":true,"n":-2.5e1,"deep":{"urgent":false,"a":[1,{"x":"}"}]},"mode":"a\"\u00e9\ud83d\ude00\n"}"#,
                ["urgent": WhenValue.boolean(true), "n": .number(-25), "mode": .text("a\"é😀\n")]
            ),
            ("{ }", [:]), ("[1,2]", [:]), ("{\"urgent\":null,\"n\":1}", ["n": .number(1)]),
            ("{\"urgent\":tru", [:]), ("{\"urgent\":\"", [:]), ("{\"n\":{\"", [:]), ("", [:]),
        ] as [(String, [String: WhenValue])])
    func `values of a payload are found, and nothing else`(json: String, values: [String: WhenValue]) throws {
        let keys: Set = ["urgent", "n", "mode", "deep"]
        let facts = PayloadFacts(json, keys: keys)
        for key in keys { #expect(facts[key] == values[key], "\(key)") }
        // What a recording keeps has the same values.
        #expect(PayloadFacts(facts.json, keys: keys) == facts)
        if let json = facts.json {
            let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
            #expect(object?.count == values.count)
        }
    }

    @Test(arguments: 1...20)
    func `any bytes are a payload, perhaps without values`(seed: Int) {
        var numbers = SeededNumbers(seed: UInt64(seed))
        for _ in 0..<500 {
            let signs = Array(#"{}[]":,\u0dt12e-. nx"#.utf8) + [0xFF, 0x80]
            let bytes = (0..<Int.random(in: 0...40, using: &numbers)).map { _ in
                signs.randomElement(using: &numbers) ?? 0
            }
            let facts = PayloadFacts("{\"a\":" + String(decoding: bytes, as: UTF8.self), keys: ["a"])
            #expect(PayloadFacts(facts.json, keys: ["a"]) == facts)
        }
    }

    // MARK: Random expressions, and a reference

    static func node(_ numbers: inout SeededNumbers, depth: Int) -> WhenExpression.Node {
        let parts = Int.random(in: 2...3, using: &numbers)
        switch depth == 0 ? 9 : Int.random(in: 0...9, using: &numbers) {
        case 0...2: return .and((0..<parts).map { _ in node(&numbers, depth: depth - 1) })
        case 3...5: return .or((0..<parts).map { _ in node(&numbers, depth: depth - 1) })
        case 6: return .not(node(&numbers, depth: depth - 1))
        case 7: return .constant(Bool.random(using: &numbers))
        default: return .test(test(&numbers))
        }
    }

    private static func test(_ numbers: inout SeededNumbers) -> WhenTest {
        var facts = MachineFact.allCases.map(WhenFact.machine) + [.condition("docked")]
        facts += payload.sorted { $0.key < $1.key }.map { .payload($0.key, $0.value) }
        let fact = facts.randomElement(using: &numbers) ?? .machine(.idle)
        let comparisons = WhenComparison.allCases.filter { !$0.needsOrder || fact.type.isOrdered }
        let comparison = comparisons.randomElement(using: &numbers) ?? .equal
        let number = Int64.random(in: 0...23, using: &numbers)
        let literal: WhenTest.Literal =
            switch fact.type {
            case .boolean: .boolean(Bool.random(using: &numbers))
            case .percent, .hour: .number(millionths: number * 1_000_000)
            case .number: .number(millionths: Int64.random(in: -30_000_000...30_000_000, using: &numbers))
            case .size: .size(.mebibytes(number))
            case .text: .text(["full", "it's", "a \"b\"", ""].randomElement(using: &numbers) ?? "")
            case .word(let words, _): .word(words.randomElement(using: &numbers) ?? "")
            }
        return WhenTest(fact, comparison, literal)
    }

    private static func value(of fact: WhenFact, _ numbers: inout SeededNumbers) -> WhenValue {
        switch fact.type {
        case .boolean: .boolean(Bool.random(using: &numbers))
        case .percent, .hour, .number: .number(Double(Int.random(in: 0...23, using: &numbers)))
        case .size: .number(Double(Int.random(in: 0...23, using: &numbers) << 20))
        case .text: .text(["full", "it's"].randomElement(using: &numbers) ?? "")
        case .word(let words, _): .text(words.randomElement(using: &numbers) ?? "")
        }
    }

    /// The value by trying both values of each unknown test: known only if all ways agree, part by part.
    private static func reference(
        _ node: WhenExpression.Node, _ value: (WhenFact) -> WhenValue?
    ) -> Bool? {
        switch node {
        case .and(let parts):
            let all = parts.map { reference($0, value) }
            if all.contains(where: { $0 == .some(false) }) { return false }
            return all.contains { $0 == nil } ? nil : true
        case .or(let parts):
            let all = parts.map { reference($0, value) }
            if all.contains(where: { $0 == .some(true) }) { return true }
            return all.contains { $0 == nil } ? nil : false
        case .not(let part): return reference(part, value).map { $0 == false }
        case .constant(let flag): return flag
        case .test(let test):
            func order(_ value: WhenValue) -> Double? {
                switch (value, test.fact.type) {
                case (.number(let number), _): number
                case (.text(let text), .word(let words, _)): words.firstIndex(of: text).map(Double.init)
                default: nil
                }
            }
            let constant: WhenValue =
                switch test.literal {
                case .boolean(let flag): .boolean(flag)
                case .number(let millionths): .number(Double(millionths) / 1e6)
                case .size(let size): .number(Double(size.bytes))
                case .word(let word), .text(let word): .text(word)
                }
            guard let present = value(test.fact) else { return nil }
            switch test.comparison {
            case .equal: return present == constant
            case .notEqual: return present != constant
            default:
                guard let left = order(present), let right = order(constant) else { return nil }
                return switch test.comparison {
                case .atMost: left <= right
                case .atLeast: left >= right
                case .below: left < right
                default: left > right
                }
            }
        }
    }

    @Test(
        arguments: [
            ("power == battery", "Write externalPower, or not externalPower for power from the battery"),
            ("user == idle", "Write idle, or not idle for an active user"), ("!idle", "Write 'not idle'"),
            ("!my-test", "Write 'not my-test'"),
            ("hour == 24", "Hours are 0 to 23; midnight is 0"), ("battery >= 140%", "Use 0% to 100%"),
            ("weekday == Saturday", "Did you mean 'Sat'?"),
            ("weekday == Mon-Fri", "Write weekday != Sat and weekday != Sun"),
        ])
    func `a common mistake gets the advice that fits it`(text: String, remedy: String) {
        #expect {
            try WhenExpression(text, payload: [:])
        } throws: { ($0 as? WhenError)?.remedy == remedy }
    }

    @Test(
        arguments: [
            ("idle and not idle", "idle and not idle", 14),
            (
                "externalPower and idle and battery >= 4 and not idle", "idle and battery >= 4 and not idle",
                49
            ),
            (
                "battery > 80 and network == metered and network == none",
                "network == metered and network == none", 41
            ),
            ("battery >= 80 and battery < 40", "battery >= 80 and battery < 40", 19),
            ("battery > 40 and battery < 41", "battery > 40 and battery < 41", 18),
            (
                "charging or (thermal > serious and thermal < critical)",
                "thermal > serious and thermal < critical", 36
            ),
            (
                "payload.mode == 'a' and payload.mode == 'b'",
                "payload.mode == \"a\" and payload.mode == \"b\"", 25
            ),
            ("false", "false", 1),
            ("charging and not externalPower", "charging and not externalPower", 18),
            (
                "idle or charging and battery >= 4 and not externalPower",
                "charging and battery >= 4 and not externalPower", 43
            ),
        ] as [(String, String?, Int)])
    func `a part that can never be true is found at its last test`(text: String, part: String?, column: Int)
        throws
    {
        let found = try #require(try WhenExpression.impossibility(in: text, payload: Self.payload))
        #expect(found.part == part ?? text)
        #expect(found.column == column)
    }

    @Test(arguments: [
        "idle or not idle", "battery >= 40 and battery < 41", "thermal >= serious and thermal < critical",
        "payload.count > 1 and payload.count < 2", "storage > 1GiB and storage != 2GiB",
        "not (idle and charging)", "not charging and externalPower", "not charging and not externalPower",
        "payload.mode != 'a' and payload.mode != 'b'", "hour >= 22 and weekday != Sat", "true",
    ])
    func `an expression that can be true is not reported`(text: String) throws {
        #expect(try WhenExpression.impossibility(in: text, payload: Self.payload) == nil)
        #expect(try WhenExpression(text, payload: Self.payload).canBeTrue)
    }

    @Test func `an expression with very many combinations counts as one that can be true`() throws {
        let names = (0..<40).map { "condition.c\($0)" }
        let expression = try WhenExpression(
            "(\(names.joined(separator: " or "))) and hour >= 22 and hour < 6", payload: [:])
        #expect(expression.canBeTrue)
    }
}
