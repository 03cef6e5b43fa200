/// Names of variables in the environment of a process.
public enum EnvironmentName {
    /// Whether a text can be the name of a variable: a letter or `_`, then letters, digits and `_`, at most
    /// 128 bytes.
    public static func isName(_ name: String) -> Bool {
        !name.utf8.isEmpty && name.utf8.count <= 128
            && name.utf8.enumerated().allSatisfy { index, byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF) || byte == UInt8(ascii: "_")
                    || (index > 0 && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte))
            }
    }
}
