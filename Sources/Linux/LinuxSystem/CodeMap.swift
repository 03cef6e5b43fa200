/// The executable file mappings of a process, from /proc/PID/maps: they show which file an address belongs
/// to.
public struct CodeMap: Equatable, Sendable {
    /// One mapping.
    struct Mapping: Equatable, Sendable {
        let start: UInt64
        let end: UInt64
        /// The offset of the mapping in the file.
        let offset: UInt64
        let path: String
    }

    let mappings: [Mapping]

    /// Reads the mappings of a process; `nil` if it is gone or access is not permitted.
    public init?(of process: Int32) {
        guard let text = try? SmallFile.read("/proc/\(process)/maps") else { return nil }
        self.init(text)
    }

    /// Parses the text of /proc/PID/maps; lines without an executable file mapping are ignored.
    init(_ text: String) {
        mappings = text.split(separator: "\n").compactMap { line in
            // For example: 7f0c-7f0d r-xp 00001000 08:01 1234   /usr/lib/libc.so.6
            let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            guard fields.count == 6, fields[1].dropFirst(2).first == "x" else { return nil }
            let path = fields[5].drop { $0 == " " }
            let range = fields[0].split(separator: "-")
            guard path.hasPrefix("/"), range.count == 2, let start = UInt64(range[0], radix: 16),
                let end = UInt64(range[1], radix: 16), let offset = UInt64(fields[2], radix: 16)
            else { return nil }
            return Mapping(start: start, end: end, offset: offset, path: String(path))
        }
    }

    /// The file to which the code at an address belongs, and the address's offset in the file.
    public func place(of address: UInt64) -> (path: String, offset: UInt64)? {
        mappings.first { $0.start <= address && address < $0.end }
            .map { ($0.path, address - $0.start + $0.offset) }
    }
}
