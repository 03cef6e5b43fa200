import ControlWire
import Scheduling
import TaskModel

/// Converts explanations of decisions to text for the store, and back.
///
/// Version 2 of the text is short, because the store keeps one for each launch (Documentation/Store.md). It
/// is a JSON array without keys. A number replaces each name in ``names``, and a policy without objection,
/// score and reason is only its name. Version 3 has what the request had waited for before the verdicts, as
/// one array of policies and milliseconds; an explanation without that is of version 2. Version 1 is the
/// message of the control channel; it can still be decoded.
enum ExplanationText {
    static func encode(_ explanation: Explanation?) -> String? {
        explanation.map { explanation in
            var text = ArrayText()
            text.append(explanation.waited.isEmpty ? 2 : 3)
            text.append(Int64(explanation.question == .start ? 0 : 1))
            text.append(explanation.at.milliseconds)
            text.append(decimal: explanation.score)
            text.append(decimal: explanation.threshold)
            text.append(explanation.scoreSuffices?.milliseconds)
            if !explanation.waited.isEmpty {
                text.open()
                for span in explanation.waited {
                    text.append(named: span.policy)
                    text.append(span.duration.wholeMilliseconds)
                }
                text.close()
            }
            for verdict in explanation.verdicts { append(verdict, explanation.at, to: &text) }
            return text.closed
        }
    }

    /// Decodes a text of any version; `nil` if it is invalid.
    static func decode(_ text: String?) -> Explanation? {
        guard let text else { return nil }
        if text.utf8.first == UInt8(ascii: "[") {
            return try? ControlJSON.decode(ShortExplanation.self, from: text).explanation
        }
        return try? ControlJSON.decode(ExplanationMessage.self, from: text).explanation
    }

    /// What the request of a launch had waited for, from the text of the launch's explanation; empty if the
    /// text contains nothing of that.
    ///
    /// A listing calls this for each launch, so it reads only the beginning of the text.
    static func waited(_ text: String?) -> [WaitSpan] {
        guard let text, text.hasPrefix("[3,") else { return [] }
        let bytes = text.utf8.dropFirst()
        guard let open = bytes.firstIndex(of: UInt8(ascii: "[")),
            let close = bytes[open...].firstIndex(of: UInt8(ascii: "]")),
            let list = try? ControlJSON.decode(WaitList.self, from: String(text[open...close]))
        else { return [] }
        return list.spans
    }

    /// Appends a verdict; one without objection, score and reason is only the name of its policy.
    private static func append(_ verdict: Verdict, _ at: WallTime, to text: inout ArrayText) {
        let since = verdict.since.map { $0.milliseconds - at.milliseconds }
        let isSilent =
            verdict.decision == .proceed && verdict.score == 1 && verdict.weight == 0
            && verdict.rationale.isEmpty && since == nil
        if isSilent { return text.append(named: verdict.policy) }
        text.open()
        text.append(named: verdict.policy)
        text.append(Int64(decisions.firstIndex(of: verdict.decision) ?? 0))
        text.append(decimal: verdict.score)
        text.append(decimal: verdict.weight)
        text.append(since)
        for rationale in verdict.rationale {
            text.open()
            text.append(named: rationale.quantity)
            text.append(named: rationale.required)
            text.append(named: rationale.observed)
            let change = rationale.earliestChange.map { $0.milliseconds - at.milliseconds }
            if change != nil || rationale.remedy != nil { text.append(change) }
            if let remedy = rationale.remedy { text.append(named: remedy) }
            text.close()
        }
        text.close()
    }

    /// The decisions; the text contains their indexes, so new ones must be added at the end.
    static let decisions: [Decision] = [.proceed, .mustNotProceed, .absolutelyMustNotProceed]

    /// Names and phrases; the text contains their indexes, so new ones must be added at the end.
    ///
    /// A phrase that is not in the list is stored as a string.
    static let names = [
        "Permission", "EarliestBeginDate", "ExternalPower", "Network", "Resources", "RequiredConditions",
        "BatteryLevel", "LowPowerMode", "Pressure", "Thermal", "DeviceActivity", "RefreshAllowed",
        "Dismissed",
        "Usage", "Conduct", "Budget", "RateLimit", "OneLaunchPerIdentifier", "Concurrency", "Coalescing",
        "Score", "externalPower", "batteryLevel", "lowPowerMode", "pressure", "thermal", "deviceActivity",
        "network", "usage", "conduct", "cpuTime", "launchesToday", "discretionaryLaunches",
        "launchesUnderWay", "score", "timeSinceLaunch", "launchesWithinHour", "earliestBeginDate",
        "connected",
        "connected, by preference", "unmetered, by preference", "off", "none", "nominal", "idle", "active",
        "unknown", "idle, by preference", "nothing of note", "no kills, crashes or leaks for 7 days",
        "0 s spent", "fewer than 2", "0", "1", "1 or more, by preference", "less than 30 min spent today",
        "usually used within the hour, by preference",
        "refreshLaunches", "urgentLaunches", "continuedLaunches", "appLaunches", "less than 2",
        "less than 48", "1 or more", "free of pressure", "neutral",
        "without kills, crashes and leaks for 7 days", "Window", "wakeUp", "other work",
        "Paused", "Deadline", "pause", "deadline", "Host", "SystemSleep",
        "Between", "When", "Storage", "Conflicts", "localTime", "when", "clause", "freeSpace", "conflict",
    ]
    static let numbers = Dictionary(
        names.enumerated().map { ($1, Int64($0)) }, uniquingKeysWith: { first, _ in first })
}

/// Builds the text of a JSON array without an encoder, for speed: every launch waits for it.
private struct ArrayText {
    private var text = "["
    private var needsComma = false

    var closed: String { text + "]" }

    mutating func open() {
        separate()
        text += "["
        needsComma = false
    }

    mutating func close() {
        text += "]"
        needsComma = true
    }

    mutating func append(_ number: Int64?) { put(number.map { "\($0)" } ?? "null") }

    mutating func append(decimal number: Double?) {
        guard let number, number.isFinite else { return put("null") }
        put(Int64(exactly: number).map { "\($0)" } ?? "\(number)")
    }

    /// Appends the index of a name in ``ExplanationText/names``, or the name as a string.
    mutating func append(named name: String) {
        if let number = ExplanationText.numbers[name] { return append(number) }
        separate()
        text += "\""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    private mutating func put(_ word: String) {
        separate()
        text += word
    }

    private mutating func separate() {
        if needsComma { text += "," }
        needsComma = true
    }
}

/// Decodes version 2 of the text.
private struct ShortExplanation: Decodable {
    var explanation: Explanation

    init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        let version = try values.decode(Int.self)
        guard version == 2 || version == 3 else {
            throw DecodingError.dataCorruptedError(in: values, debugDescription: "it is of another version")
        }
        let question: Explanation.Question = try values.decode(Int.self) == 0 ? .start : .stop
        let at = WallTime(milliseconds: try values.decode(Int64.self))
        explanation = Explanation(question: question, at: at, verdicts: [])
        explanation.score = try values.decodeOptional(Double.self)
        explanation.threshold = try values.decodeOptional(Double.self)
        explanation.scoreSuffices = try values.decodeOptional(Int64.self).map(WallTime.init(milliseconds:))
        if version == 3 { explanation.waited = try values.decode(WaitList.self).spans }
        while !values.isAtEnd { explanation.verdicts.append(try Self.verdict(&values, at)) }
    }

    private static func verdict(
        _ values: inout any UnkeyedDecodingContainer, _ at: WallTime
    ) throws -> Verdict {
        if let policy = try? values.decode(Name.self) {
            return Verdict(policy: policy.text, decision: .proceed, score: 1, weight: 0, rationale: [])
        }
        var fields = try values.nestedUnkeyedContainer()
        let policy = try fields.decode(Name.self).text
        let number = try fields.decode(Int.self)
        guard ExplanationText.decisions.indices.contains(number) else {
            throw DecodingError.dataCorruptedError(in: fields, debugDescription: "it has no such decision")
        }
        var verdict = Verdict(
            policy: policy, decision: ExplanationText.decisions[number],
            score: try fields.decodeOptional(Double.self) ?? .nan,
            weight: try fields.decodeOptional(Double.self) ?? .nan, rationale: [])
        verdict.since = try fields.decodeOptional(Int64.self).map { at + .milliseconds($0) }
        while !fields.isAtEnd {
            var parts = try fields.nestedUnkeyedContainer()
            var rationale = Rationale(
                quantity: try parts.decode(Name.self).text, required: try parts.decode(Name.self).text,
                observed: try parts.decode(Name.self).text)
            if !parts.isAtEnd {
                rationale.earliestChange = try parts.decodeOptional(Int64.self).map { at + .milliseconds($0) }
            }
            if !parts.isAtEnd { rationale.remedy = try parts.decode(Name.self).text }
            verdict.rationale.append(rationale)
        }
        return verdict
    }
}

/// Decodes what a request had waited for: policies and milliseconds in turn.
private struct WaitList: Decodable {
    var spans: [WaitSpan] = []

    init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        while !values.isAtEnd {
            let policy = try values.decode(Name.self).text
            spans.append(
                WaitSpan(
                    policy: policy, object: Scheduler.awaited(policy),
                    duration: .milliseconds(try values.decode(Int64.self))))
        }
    }
}

/// Decodes a name, which is an index in ``ExplanationText/names`` or a string.
private struct Name: Decodable {
    var text: String

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Int.self) {
            guard ExplanationText.names.indices.contains(number) else {
                throw DecodingError.dataCorruptedError(in: value, debugDescription: "it has no such name")
            }
            text = ExplanationText.names[number]
        } else {
            text = try value.decode(String.self)
        }
    }
}

extension UnkeyedDecodingContainer {
    /// Decodes a value; `nil` for `null`.
    fileprivate mutating func decodeOptional<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        try decodeNil() ? nil : decode(type)
    }
}
