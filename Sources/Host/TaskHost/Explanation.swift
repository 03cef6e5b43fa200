import ControlWire
import TaskModel

/// The verdicts that started a launch, as JSON text of the control channel's own messages, for its record.
func explanationText(_ verdicts: [Verdict]) -> String? {
    guard !verdicts.isEmpty, let line = try? ControlJSON.line(verdicts.map(VerdictMessage.init)) else {
        return nil
    }
    return String(decoding: line, as: UTF8.self)
}
