/// The reason that a task gives when it ends itself.
public struct LaunchFault: Equatable, Sendable {
    /// Apple's name of the fault, such as `0x8badf00d` or `NSInternalInconsistencyException`.
    public let word: String
    /// What was wrong and what to do, in one line.
    public let message: String
    /// Further lines, such as where each assertion began.
    public let details: [String]

    /// Splits a text: its first line becomes the message, the others the details.
    public init(word: String, text: String) {
        self.word = word
        let lines = text.split(separator: "\n").map(String.init)
        message = lines.first ?? ""
        details = Array(lines.dropFirst())
    }

    /// The number, if ``word`` is `0x` and up to eight hexadecimal digits; otherwise `nil`.
    public var code: UInt32? {
        guard word.lowercased().hasPrefix("0x") else { return nil }
        return UInt32(word.dropFirst(2), radix: 16)
    }

    /// The word and the message in one line: `0x8badf00d: the assertion ...`.
    public var summary: String { message.isEmpty ? word : "\(word): \(message)" }
    /// The summary and the details.
    public var lines: [String] { [summary] + details }
}
