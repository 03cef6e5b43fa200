import TaskModel

/// Colours of text on a terminal.
///
/// If `isColored` is false, every text stays as it is.
struct Style: Sendable {
    let isColored: Bool

    func bold(_ text: String) -> String { wrap(text, "1") }
    func dim(_ text: String) -> String { wrap(text, "2") }
    func red(_ text: String) -> String { wrap(text, "31") }
    func green(_ text: String) -> String { wrap(text, "32") }
    func yellow(_ text: String) -> String { wrap(text, "33") }

    /// Colours a text: green for success; yellow for a running, expired or cancelled launch; red otherwise.
    func outcome(_ outcome: Outcome?, _ text: String) -> String {
        switch outcome {
        case .succeeded: green(text)
        case .expired, .cancelled, nil: yellow(text)
        case .failed, .killed, .crashed, .lost: red(text)
        }
    }

    private func wrap(_ text: String, _ code: String) -> String {
        isColored && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
