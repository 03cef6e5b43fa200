/// Why a task says that it ends itself.
public struct LaunchFault: Equatable, Sendable {
    /// Apple's word for it: `0x8badf00d`, `NSInternalInconsistencyException`.
    public let word: String
    /// What was wrong and what to do, in one line.
    public let message: String
    /// What else there is to know, such as where each assertion began.
    public let details: [String]

    /// Makes a fault of a text whose first line is the message.
    public init(word: String, text: String) {
        self.word = word
        let lines = text.split(separator: "\n").map(String.init)
        message = lines.first ?? ""
        details = Array(lines.dropFirst())
    }

    /// The word as a number, where it is one: `0x` and up to eight hexadecimal digits.
    public var code: UInt32? {
        guard word.lowercased().hasPrefix("0x") else { return nil }
        return UInt32(word.dropFirst(2), radix: 16)
    }

    /// `0x8badf00d: the assertion ...`, one line.
    public var summary: String { message.isEmpty ? word : "\(word): \(message)" }
    /// The summary and the details.
    public var lines: [String] { [summary] + details }
}
