import LinuxSystem

/// The build settings of Xcode in a configuration file (`.xcconfig`), which property lists refer to:
/// `$(PRODUCT_BUNDLE_IDENTIFIER)`.
struct BuildSettings {
    /// The size of the largest file that is read, 1 MiB.
    private static let maximumSize = 1 << 20
    /// How deeply files may include others.
    private static let maximumDepth = 16

    private var values: [String: String] = [:]

    /// No settings.
    init() {}

    /// Reads a configuration file and the files that it includes; a later line replaces an earlier one.
    ///
    /// Lines with a condition such as `NAME[sdk=iphoneos*]` are ignored.
    ///
    /// - Throws: ``AuthoringError`` if a file can't be read or a line is not a setting.
    init(file: String) throws(AuthoringError) { try read(file, depth: 0) }

    private mutating func read(_ file: String, depth: Int) throws(AuthoringError) {
        guard depth < Self.maximumDepth else {
            throw AuthoringError(
                file, "configuration files include each other \(Self.maximumDepth) times", "Remove the circle"
            )
        }
        let bytes: [UInt8]
        do {
            bytes = try FileContents.read(file, limit: Self.maximumSize)
        } catch {
            throw AuthoringError(file, "\(error)", "Give a readable .xcconfig file")
        }
        guard bytes.count <= Self.maximumSize else {
            throw AuthoringError(file, "it is larger than 1 MiB", "Give an .xcconfig file")
        }
        let lines = String(decoding: bytes, as: UTF8.self)
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (number, line) in lines.enumerated() {
            let text = Self.trimmed(line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line)
            if text.isEmpty { continue }
            if text.hasPrefix("#include") {
                try include(text, from: file, line: number + 1, depth: depth)
                continue
            }
            guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
                throw AuthoringError(
                    file, "line \(number + 1) is neither 'NAME = value' nor an #include",
                    "Give an .xcconfig file")
            }
            let name = Self.trimmed(text[..<sign])
            let value = String(Self.trimmed(text[text.index(after: sign)...]))
            // The sign of a condition is inside its brackets: NAME[sdk=iphoneos*] = value
            if name.contains("[") { continue }
            values[String(name)] = value.replacing("$(inherited)", with: values[String(name)] ?? "")
        }
    }

    private mutating func include(_ text: Substring, from file: String, line: Int, depth: Int)
        throws(AuthoringError)
    {
        let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
        guard parts.count == 3, ["#include ", "#include? ", "#include", "#include?"].contains(parts[0]) else {
            throw AuthoringError(file, "line \(line) is not '#include \"FILE\"'", "Correct the line")
        }
        let folder = file.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let path =
            parts[1].hasPrefix("/") ? String(parts[1]) : (folder + [parts[1]]).joined(separator: "/")
        do {
            try read(path, depth: depth + 1)
        } catch {
            // Of an optional file, only its absence is no mistake; Xcode does not tell the two apart either.
            if !parts[0].hasPrefix("#include?") { throw error }
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }

    // MARK: Use

    /// Replaces `$(NAME)` and `${NAME}` by the settings; names that are not set or refer to themselves
    /// remain.
    func expanded(_ text: String) -> String { expanded(text, inside: []) }

    private func expanded(_ text: String, inside names: Set<String>) -> String {
        guard !values.isEmpty, text.contains("$") else { return text }
        var result = ""
        var rest = Substring(text)
        while let sign = rest.firstIndex(of: "$") {
            result += rest[..<sign]
            rest = rest[sign...]
            let opening = rest.dropFirst().first
            let closing: Character = opening == "(" ? ")" : "}"
            guard opening == "(" || opening == "{", let end = rest.firstIndex(of: closing) else {
                result += "$"
                rest = rest.dropFirst()
                continue
            }
            let parts = rest[..<end].dropFirst(2).split(separator: ":")
            if let name = parts.first.map(String.init), !names.contains(name), let value = values[name] {
                let whole = expanded(value, inside: names.union([name]))
                result += parts.dropFirst().first == "rfc1034identifier" ? Self.identifier(whole) : whole
            } else {
                result += rest[...end]
            }
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    /// The text with a hyphen in place of each character that a name in RFC 1034 can't have.
    private static func identifier(_ text: String) -> String {
        String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") ? $0 : "-" })
    }
}
