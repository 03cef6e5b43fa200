import StrictFiles
import TaskModel

/// Texts in manifests that can contain values of the payload: `${payload.KEY}`.
enum PayloadText {
    /// A part of a text: plain characters, or the name of a payload key.
    enum Part: Equatable {
        case plain(Substring)
        case key(Substring)
    }

    /// Whether a text is a valid key: a letter, then letters, digits and underscores, at most 64 bytes.
    static func isKey(_ text: some StringProtocol) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 64, isLetter(first) else { return false }
        return text.utf8.allSatisfy {
            isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "_")
        }
    }

    /// Splits a text into parts; returns `nil` if a `${` does not begin a valid `${payload.KEY}`.
    static func parts(of text: String) -> [Part]? {
        var parts: [Part] = []
        var rest = Substring(text)
        while let start = rest.firstRange(of: "${") {
            if start.lowerBound > rest.startIndex { parts.append(.plain(rest[..<start.lowerBound])) }
            guard let end = rest[start.upperBound...].firstIndex(of: "}") else { return nil }
            let name = rest[start.upperBound..<end]
            guard name.hasPrefix("payload."), isKey(name.dropFirst(8)) else { return nil }
            parts.append(.key(name.dropFirst(8)))
            rest = rest[rest.index(after: end)...]
        }
        if !rest.isEmpty { parts.append(.plain(rest)) }
        return parts
    }

    /// Whether a text contains `${`, valid or not.
    static func isTemplate(_ text: String) -> Bool { text.contains("${") }

    /// Reports the keys of a text that are malformed, undeclared or of a type that is not allowed.
    static func check(
        _ text: String, in payload: [String: PayloadType], allowing types: Set<PayloadType>, at place: Place,
        _ problems: ProblemList
    ) {
        guard let parts = parts(of: text) else {
            problems.error(place, "'\(text.shortened)' contains a malformed '${'", "Write ${payload.KEY}")
            return
        }
        for case .key(let key) in parts {
            guard let type = payload[String(key)] else {
                problems.error(
                    place, "the payload key '\(key)' is not declared",
                    payload.isEmpty
                        ? "Add it: payload: {\(key): string}"
                        : Nearest.advice(for: String(key), in: Array(payload.keys)))
                continue
            }
            if !types.contains(type) {
                let names = types.map(\.rawValue).sorted().joined(separator: " or ")
                problems.error(
                    place, "the payload key '\(key)' has type \(type.rawValue)", "Here it must be \(names)")
            }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
