import Glibc

/// What the kernel reads at the beginning of a program's file.
public enum ProgramFile {
    /// The number of bytes that the kernel reads (execve(2): a longer line is cut).
    private static let length = 255

    /// The interpreter of a script and its argument, from the line that begins with `#!`; `nil` if the file
    /// is not a script or can't be read.
    public static func interpreter(of path: String) -> [String]? {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { return nil }
        let file = OwnedDescriptor(taking: number)
        var buffer = [UInt8](repeating: 0, count: length)
        let count = pread(file.rawValue, &buffer, buffer.count, 0)
        guard count > 2, buffer.starts(with: [UInt8(ascii: "#"), UInt8(ascii: "!")]) else { return nil }
        let line = buffer[2..<count].prefix { $0 != UInt8(ascii: "\n") }
        let words = String(decoding: line, as: UTF8.self).split { $0 == " " || $0 == "\t" }.map(String.init)
        return words.isEmpty ? nil : words
    }
}
