import BackgroundTasks
import Synchronization

/// The kind of a call of `os_signpost`.
public enum OSSignpostType: UInt8, Sendable {
    /// An event happened.
    case event = 0
    /// An interval begins.
    case begin = 1
    /// An interval ends.
    case end = 2
}

/// Writes an event, or begins or ends an interval.
///
/// - Parameters:
///   - type: The kind of the call.
///   - dso: Not used.
///   - log: The log, which has the subsystem and category.
///   - name: The name of the event or interval.
///   - signpostID: Distinguishes intervals with the same name.
public func os_signpost(
    _ type: OSSignpostType, dso: UnsafeRawPointer? = nil, log: OSLog, name: StaticString,
    signpostID: OSSignpostID = .exclusive
) {
    Signposts.write(type, log, name, signpostID, nil)
}

/// Writes an event, or begins or ends an interval, with a format string like that of `printf`.
///
/// - Parameters:
///   - type: The kind of the call.
///   - dso: Not used.
///   - log: The log, which has the subsystem and category.
///   - name: The name of the event or interval.
///   - signpostID: Distinguishes intervals with the same name.
///   - format: The format string; `%@` and `%s` are private by default, numbers are public.
///   - arguments: The values, in order.
public func os_signpost(
    _ type: OSSignpostType, dso: UnsafeRawPointer? = nil, log: OSLog, name: StaticString,
    signpostID: OSSignpostID = .exclusive, _ format: StaticString, _ arguments: Any...
) {
    Signposts.write(type, log, name, signpostID, PrivacyFormat.text(format.description, arguments))
}

/// The open intervals of `os_signpost`, stored here because the call that ends an interval does not receive
/// its state.
private enum Signposts {
    private struct Key: Hashable {
        let log: ObjectIdentifier
        let name: String
        let id: OSSignpostID
    }

    private static let open = Mutex<[Key: OSSignpostIntervalState]>([:])

    static func write(
        _ type: OSSignpostType, _ log: OSLog, _ name: StaticString, _ id: OSSignpostID, _ text: String?
    ) {
        let signposter = OSSignposter(logHandle: log)
        let message = text.map(OSLogMessage.init(stringLiteral:))
        let key = Key(log: ObjectIdentifier(log), name: name.description, id: id)
        switch type {
        case .event:
            if let message {
                signposter.emitEvent(name, id: id, message)
            } else {
                signposter.emitEvent(name, id: id)
            }
        case .begin:
            let state =
                message.map { signposter.beginInterval(name, id: id, $0) }
                ?? signposter.beginInterval(name, id: id)
            open.withLock { $0[key] = state }
        case .end:
            guard let state = open.withLock({ $0.removeValue(forKey: key) }) else { return }
            if let message {
                signposter.endInterval(name, state, message)
            } else {
                signposter.endInterval(name, state)
            }
        }
    }
}
