/// The first line of a text whose encoding is not known.
public enum FirstLine {
    /// The first line without blanks at both ends; bytes that are not UTF-8 become U+FFFD.
    public static func of(_ bytes: some Collection<UInt8>) -> String {
        let isBlank = { (byte: UInt8) in byte <= 0x20 }
        let line = bytes.prefix { $0 != 0x0A }.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        return String(decoding: Array(line), as: UTF8.self)
    }
}
