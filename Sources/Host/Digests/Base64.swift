internal import CSodium

/// Base64 with padding, by libsodium.
public enum Base64 {
    /// Decodes a text.
    ///
    /// - Parameter text: The text.
    /// - Returns: The bytes; `nil` if the text has another form.
    public static func decode(_ text: String) -> [UInt8]? {
        let text = Array(text.utf8)
        var bytes = [UInt8](repeating: 0, count: text.count / 4 * 3 + 3)
        var length = 0
        let capacity = bytes.count
        let result = text.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { characters in
                sodium_base642bin(
                    &bytes, capacity, characters.baseAddress, characters.count, nil, &length, nil,
                    sodium_base64_VARIANT_ORIGINAL)
            }
        }
        return result == 0 ? Array(bytes.prefix(length)) : nil
    }

    /// Encodes bytes.
    ///
    /// - Parameter bytes: The bytes.
    /// - Returns: The text.
    public static func encode(_ bytes: [UInt8]) -> String {
        // Three bytes become four characters; a NUL ends the text.
        var text = [CChar](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        sodium_bin2base64(&text, text.count, bytes, bytes.count, sodium_base64_VARIANT_ORIGINAL)
        return String(decoding: text.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
