/// Why bytes of the runner protocol were refused; the peer that sent them is dropped or killed.
public struct WireError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a program can switch on.
    public enum Code: String, Sendable, CaseIterable {
        /// A length outside 4 … 65,536.
        case frameLength
        /// A frame is missing or was written twice.
        case sequenceGap
        /// A kind below 0x80 that this direction does not have.
        case unknownKind
        /// A field overruns the body, or has the wrong length for its type.
        case fieldLength
        /// A text that is not UTF-8, or has a NUL.
        case text
        /// A required field is not there.
        case missingField
        /// A field that can appear once appears twice.
        case repeatedField
        /// A number outside its range, or a word that is not known.
        case range
        /// The message to send does not fit into a frame.
        case tooLarge
        /// The stream ended inside a frame.
        case truncated
    }

    /// The stable code.
    public let code: Code
    /// What was found, with the deciding numbers; holds no text of the peer.
    public let finding: String

    public init(_ code: Code, _ finding: String) {
        self.code = code
        self.finding = finding
    }

    /// The finding and the code.
    public var description: String { "\(finding) [\(code.rawValue)]" }
}

/// The bounds of Documentation/RunnerProtocol.md that every frame obeys.
public enum FrameLimits {
    /// The smallest valid length: kind, flags and sequence.
    public static let minimumLength = 4
    /// The largest valid length.
    public static let maximumLength = 65_536
    /// The bytes before the body, the length field included.
    public static let headerSize = 8
    /// The most bytes of a body.
    public static let maximumBody = maximumLength - minimumLength
    /// The most bytes of a payload or a checkpoint: `BGTASK_BLOB_MAX`.
    public static let maximumBlob = 49_152
    /// The most bytes of a `call:` program.
    public static let maximumProgram = 60_000
    /// Kinds from here on are skipped when they are not known.
    public static let firstSkippedKind: UInt8 = 0x80
}

/// `0x2F`, for findings.
func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return "0x" + (digits.utf8.count == 1 ? "0" + digits : digits)
}
