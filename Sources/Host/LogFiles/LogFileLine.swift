public import TaskModel

/// A line of the log as a line of a file: eight fields with tabs between them.
///
/// The fields are the milliseconds since 1970, the level, the source, the number of the launch, the task, the
/// subsystem, the category and the message. An empty field is a missing one. In a field, `\\`, `\t` and `\n`
/// stand for a backslash, a tab and a line break.
public enum LogFileLine {
    /// The line for a file, with the line break at its end.
    public static func encode(_ line: LogLine) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(line.message.utf8.count + 96)
        func add(_ text: String, end: UInt8 = tab) {
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "\\")]
                case tab: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
                case newline: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
                default: bytes.append(byte)
                }
            }
            bytes.append(end)
        }
        add("\(line.at.milliseconds)")
        add(line.level.rawValue)
        add(line.source.rawValue)
        add(line.launch.map { "\($0.rawValue)" } ?? "")
        add(line.identifier?.rawValue ?? "")
        add(line.subsystem ?? "")
        add(line.category ?? "")
        add(line.message, end: newline)
        return bytes
    }

    /// Reads a line of a file, without its line break; `nil` if it is damaged.
    public static func decode(_ bytes: ArraySlice<UInt8>) -> LogLine? {
        let fields = bytes.split(separator: tab, omittingEmptySubsequences: false).map(text)
        guard fields.count == 8, let milliseconds = Int64(fields[0]),
            let level = LogLine.Level(rawValue: fields[1]), let source = LogLine.Source(rawValue: fields[2])
        else { return nil }
        var line = LogLine(
            at: WallTime(milliseconds: milliseconds), level: level, source: source,
            message: fields[7])
        if !fields[3].isEmpty {
            guard let launch = Int64(fields[3]) else { return nil }
            line.launch = LaunchID(rawValue: launch)
        }
        if !fields[4].isEmpty {
            guard let identifier = try? TaskIdentifier(fields[4]) else { return nil }
            line.identifier = identifier
        }
        line.subsystem = fields[5].isEmpty ? nil : fields[5]
        line.category = fields[6].isEmpty ? nil : fields[6]
        return line
    }

    static let newline = UInt8(ascii: "\n")
    private static let tab = UInt8(ascii: "\t")

    private static func text(_ field: ArraySlice<UInt8>) -> String {
        guard field.contains(UInt8(ascii: "\\")) else { return String(decoding: field, as: UTF8.self) }
        var bytes: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            bytes.append(next == UInt8(ascii: "t") ? tab : next == UInt8(ascii: "n") ? newline : next)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
