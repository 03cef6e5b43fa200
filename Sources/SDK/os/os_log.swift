import BackgroundTasks
import Foundation

/// Writes a message at the default level.
///
/// - Parameter message: The message.
public func os_log(_ message: OSLogMessage) { OSLog.default.write(.notice, message.text) }

/// Writes an interpolated message.
///
/// - Parameters:
///   - type: The level of the message.
///   - log: The log, which has the subsystem and category.
///   - message: The message.
public func os_log(_ type: OSLogType, log: OSLog = .default, _ message: OSLogMessage) {
    log.write(type.level, as: type, message.text)
}

/// Writes a message with a format string like that of `printf`, with privacy options such as `%{public}@`.
///
/// - Parameters:
///   - message: The format string; `%@` and `%s` are private by default, numbers are public.
///   - dso: Not used.
///   - log: The log, which has the subsystem and category.
///   - type: The level of the message.
///   - arguments: The values, in order; they may be objects, which are not `CVarArg` on Linux.
@_disfavoredOverload
public func os_log(
    _ message: StaticString, dso: UnsafeRawPointer? = nil, log: OSLog = .default, type: OSLogType = .default,
    _ arguments: Any...
) {
    log.write(type.level, as: type, PrivacyFormat.text(message.description, arguments))
}

/// Writes a message with a format string like that of `printf`; the level comes first.
///
/// - Parameters:
///   - type: The level of the message.
///   - dso: Not used.
///   - log: The log, which has the subsystem and category.
///   - message: The format string; `%@` and `%s` are private by default, numbers are public.
///   - arguments: The values, in order.
@_disfavoredOverload
public func os_log(
    _ type: OSLogType, dso: UnsafeRawPointer? = nil, log: OSLog = .default, _ message: StaticString,
    _ arguments: Any...
) {
    log.write(type.level, as: type, PrivacyFormat.text(message.description, arguments))
}

/// Format strings like those of `printf`, with privacy options.
enum PrivacyFormat {
    /// Replaces each conversion by its argument, or by a mask if the argument is private.
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
        // A C string is passed as a pointer; for other arguments of a text conversion, their description is
        // used.
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
