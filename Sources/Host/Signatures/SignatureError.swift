/// The reason why a text is not a valid key or signature, or why a file does not match its signature.
public struct SignatureError: Error, Equatable, CustomStringConvertible {
    /// What is wrong; it continues a sentence that names the text or file.
    public var finding: String
    /// What to do.
    public var remedy: String

    public var description: String { "\(finding). \(remedy)" }
}
