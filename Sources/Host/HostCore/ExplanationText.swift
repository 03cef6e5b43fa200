import ControlWire
import TaskModel

/// Records of decisions as JSON text of the control channel's own messages, for the store.
enum ExplanationText {
    static func encode(_ explanation: Explanation?) -> String? {
        guard let explanation, let line = try? ControlJSON.line(ExplanationMessage(explanation)) else {
            return nil
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// `nil` for text of an older host, which kept less.
    static func decode(_ text: String?) -> Explanation? {
        guard let text else { return nil }
        return try? ControlJSON.decode(ExplanationMessage.self, from: text).explanation
    }
}
