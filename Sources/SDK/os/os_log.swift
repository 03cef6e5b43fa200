import BackgroundTasks
import Foundation

/// Writes a message at the default level.
///
/// - Parameter message: The message.
public func os_log(_ message: OSLogMessage) { OSLog.default.write(.notice, message.text) }

/// Writes an interpolated message at a level.
///
/// - Parameters:
///   - type: Its level.
///   - log: Its names.
///   - message: The message.
public func os_log(_ type: OSLogType, log: OSLog = .default, _ message: OSLogMessage) {
    log.write(type.level, message.text)
}

/// Writes a message in C's format, with `%{public}@` and `%{private}d`.
///
/// - Parameters:
///   - message: The format; `%@` and `%s` are private by default, numbers are public.
///   - dso: Not used.
///   - log: Its names.
///   - type: Its level.
///   - arguments: The values, in order; objects too, which are no `CVarArg` on Linux.
@_disfavoredOverload
public func os_log(
    _ message: StaticString, dso: UnsafeRawPointer? = nil, log: OSLog = .default, type: OSLogType = .default,
    _ arguments: Any...
) {
    log.write(type.level, PrivacyFormat.text(message.description, arguments))
}

/// Writes a message in C's format, with its level first.
///
/// - Parameters:
///   - type: Its level.
///   - dso: Not used.
///   - log: Its names.
///   - message: The format; `%@` and `%s` are private by default, numbers are public.
///   - arguments: The values, in order.
@_disfavoredOverload
public func os_log(
    _ type: OSLogType, dso: UnsafeRawPointer? = nil, log: OSLog = .default, _ message: StaticString,
    _ arguments: Any...
) {
    log.write(type.level, PrivacyFormat.text(message.description, arguments))
}

/// C's format with privacy.
enum PrivacyFormat {
    /// Fills in the arguments, each by its own rule.
    static func text(_ format: String, _ arguments: [Any]) -> String {
        var text = "", rest = Substring(format), next = arguments[...]
        while let percent = rest.firstIndex(of: "%") {
            text += rest[..<percent]
            rest = rest[rest.index(after: percent)...]
            if rest.first == "%" {
                text += "%"
                rest = rest.dropFirst()
                continue
            }
            var privacy = OSLogPrivacy.auto
            if rest.first == "{", let end = rest.firstIndex(of: "}") {
                privacy = rule(rest[rest.index(after: rest.startIndex)..<end])
                rest = rest[rest.index(after: end)...]
            }
            guard let end = rest.firstIndex(where: { $0.isLetter && !"hlqLztj".contains($0) || $0 == "@" })
            else { break }
            let conversion = String(rest[...end])
            rest = rest[rest.index(after: end)...]
            guard let argument = next.popFirst() else {
                text += "<no value>"
                continue
            }
            let isText = conversion.hasSuffix("@") || conversion.hasSuffix("s")
            text += privacy.shown(value(argument, conversion, isText: isText), isPublic: !isText)
        }
        return text + rest
    }

    private static func value(_ argument: Any, _ conversion: String, isText: Bool) -> String {
        // A C string is passed as a pointer; any other text describes itself, whatever it is.
        let isPointer =
            argument is OpaquePointer || argument is UnsafePointer<CChar>
            || argument is UnsafeMutablePointer<CChar>
        guard !isText || (conversion.hasSuffix("s") && isPointer), let argument = argument as? any CVarArg
        else { return "\(argument)" }
        return String(format: "%" + conversion, argument)
    }

    private static func rule(_ words: Substring) -> OSLogPrivacy {
        let words = words.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        let mask: OSLogPrivacy.Mask = words.contains("mask.hash") ? .hash : .none
        if words.contains("public") { return .public }
        if words.contains("sensitive") { return .sensitive(mask: mask) }
        if words.contains("private") { return .private(mask: mask) }
        return .auto(mask: mask)
    }
}
