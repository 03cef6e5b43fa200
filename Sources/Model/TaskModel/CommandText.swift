/// Command lines that a person can paste into a shell.
public enum CommandText {
    /// A command of `bgtask` with its arguments, each quoted where the shell needs it: `bgtask expire L41`.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, without `bgtask`.
    ///   - socket: The value of the option `--socket`; `nil` if the command finds the host without it.
    /// - Returns: The command line.
    public static func line(_ arguments: [String], socket: String? = nil) -> String {
        let option = socket.map { ["--socket", $0] } ?? []
        return (["bgtask"] + arguments + option).map(quoted).joined(separator: " ")
    }

    /// A text with commands of `bgtask` at its end or in parentheses, with the option `--socket` in each.
    public static func adding(socket: String?, to text: String) -> String {
        guard let socket, text.contains("bgtask ") else { return text }
        let option = " --socket \(quoted(socket))"
        var (result, outside, rest) = ("", "", text[...])
        while let open = rest.firstIndex(of: "("), let close = rest[open...].firstIndex(of: ")") {
            let group = rest[open..<close]
            let isCommand =
                group.hasPrefix("(bgtask ") || group.hasPrefix("(see bgtask ") || group.contains(": bgtask ")
            outside += rest[..<open]
            result += rest[..<close] + (isCommand ? option : "") + ")"
            rest = rest[rest.index(after: close)...]
        }
        outside += rest
        return result + rest + (outside.contains(": bgtask ") ? option : "")
    }

    /// One word for a POSIX shell: as it is if the shell changes nothing in it, else in single quotes.
    public static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-._/=:,@%+".utf8.contains(byte)
                }
            }
        if isPlain { return word }
        var text = "'"
        for character in word { text += character == "'" ? "'\\''" : String(character) }
        return text + "'"
    }
}
