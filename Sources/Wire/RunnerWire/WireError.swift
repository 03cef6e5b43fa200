/// Why the host refused bytes of the runner protocol; it drops or kills the peer that sent them.
public struct WireError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of a violation, for programs.
    public enum Code: String, Sendable, CaseIterable {
        /// A frame's length is outside 4 … 65,536.
        case frameLength
        /// A sequence number is wrong, because a frame is missing or was sent twice.
        case sequenceGap
        /// A kind below 0x80 is not defined for this direction.
        case unknownKind
        /// A field is longer than the rest of the body, or has the wrong length for its type.
        case fieldLength
        /// A text is not UTF-8, or contains a NUL byte.
        case text
        /// A required field is missing.
        case missingField
        /// A field that may appear only once appears twice.
        case repeatedField
        /// A number is outside its range, or a word is unknown.
        case range
        /// A message to send does not fit into a frame.
        case tooLarge
        /// The stream ended inside a frame.
        case truncated
    }

    /// The kind of the violation.
    public let code: Code
    /// A description with the numbers that decided; never contains text from the peer.
    public let finding: String

    public init(_ code: Code, _ finding: String) {
        self.code = code
        self.finding = finding
    }

    /// The finding, followed by the code.
    public var description: String { "\(finding) [\(code.rawValue)]" }
}

/// The limits of frames and fields in Documentation/RunnerProtocol.md.
public enum FrameLimits {
    /// The smallest valid value of the length field: it counts kind, flags and sequence.
    public static let minimumLength = 4
    /// The largest valid value of the length field.
    public static let maximumLength = 65_536
    /// The number of bytes before the body, including the length field.
    public static let headerSize = 8
    /// The largest number of bytes in a body.
    public static let maximumBody = maximumLength - minimumLength
    /// The largest number of bytes in a payload or a checkpoint; the same as `BGTASK_BLOB_MAX`.
    public static let maximumBlob = 49_152
    /// The largest number of bytes in a `call:` program.
    public static let maximumProgram = 60_000
    /// The first kind that a receiver skips if it does not know it; smaller unknown kinds are violations.
    public static let firstSkippedKind: UInt8 = 0x80
}

/// Formats a byte for a finding, such as `0x2F`.
func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return "0x" + (digits.utf8.count == 1 ? "0" + digits : digits)
}
