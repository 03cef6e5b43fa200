import Glibc

/// What the kernel and the dynamic loader load for a program or a library in ELF format.
///
/// It is read as they read it, by the program headers (System V ABI, chapter 5). A program may lack the
/// section headers that ``ELFFile`` needs, and only some pages of the file are read. All offsets are checked,
/// because the file may come from any source.
public struct ELFNeeds: Equatable, Sendable {
    /// The path of the loader that the kernel starts for a program (`PT_INTERP`); `nil` if there is none.
    public private(set) var interpreter: String?
    /// The libraries in the `DT_NEEDED`, `DT_AUXILIARY` and `DT_FILTER` entries, in order.
    public private(set) var needed: [String] = []
    /// The libraries in the `DT_AUDIT` and `DT_DEPAUDIT` entries, which the loader loads for a program.
    public private(set) var audits: [String] = []
    /// The directories of the `DT_RUNPATH` and `DT_RPATH` entries, in order; they may contain `$ORIGIN`.
    public private(set) var runPaths: [String] = []

    /// The greatest size of the dynamic section, and of all names together: 64 KiB.
    ///
    /// Our choice: the largest programs of a distribution need some hundred libraries, with 16 bytes each.
    private static let mostBytes = 64 << 10
    private static let cut = ELFFile.FormatError(finding: "the file is truncated")
    private static let large = ELFFile.FormatError(finding: "its dynamic section has more than 64 KiB")

    /// Creates the needs of a file that was read in another way.
    public init(needed: [String], runPaths: [String]) {
        self.needed = needed
        self.runPaths = runPaths
    }

    /// Reads the needs of the file at a path; links are followed.
    ///
    /// - Returns: The needs; `nil` if it is no file, or none that the kernel or the loader accepts.
    /// - Throws: The error of a file that is damaged, or has more entries than this type reads.
    public static func of(_ path: String) throws(ELFFile.FormatError) -> Self? {
        let file: OwnedDescriptor
        do throws(SystemCallError) {
            // Opening a device can have effects.
            guard try FileIdentity(of: path).isRegular else { return nil }
            file = OwnedDescriptor(
                taking: try retryingOnInterrupt("open", path) {
                    open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                })
        } catch  where error.isOfMissingFile || error.code == ELOOP {
            return nil
        } catch {
            throw ELFFile.FormatError(finding: "\(error)")
        }
        let descriptor = file.rawValue
        var failure: CInt?
        let needs = Result { () throws(ELFFile.FormatError) in
            try Self { offset, count in
                guard let place = off_t(exactly: offset) else { return [] }
                var buffer = [UInt8](repeating: 0, count: count)
                let found = pread(descriptor, &buffer, count, place)
                if found < 0 { failure = errno }
                return Array(buffer.prefix(max(0, found)))
            }
        }
        if let failure {
            throw ELFFile.FormatError(
                finding: "\(SystemCallError(call: "pread", subject: path, code: failure))")
        }
        return try needs.get()
    }

    /// Reads the needs of a file in memory.
    ///
    /// - Returns: As ``of(_:)``.
    /// - Throws: As ``of(_:)``.
    public static func of(bytes: [UInt8]) throws(ELFFile.FormatError) -> Self? {
        try Self { offset, count in
            guard let start = Int(exactly: offset), start < bytes.count else { return [] }
            return Array(bytes[start...].prefix(count))
        }
    }

    // 'read' returns the bytes at an offset, at most as many as asked for; fewer at the end of the file.
    private init?(reading read: (_ offset: UInt64, _ count: Int) -> [UInt8]) throws(ELFFile.FormatError) {
        guard let image = try Image(reading: read) else { return nil }
        if let place = image.interpreter {
            interpreter = Self.text(read(place.offset, Int(min(place.size, UInt64(PATH_MAX)))))
        }
        guard let dynamic = image.dynamic.flatMap(image.place(of:)) else { return }
        let bytes = read(dynamic.offset, Int(min(dynamic.size, UInt64(Self.mostBytes))))
        let width = image.width
        var names: [(tag: UInt64, offset: UInt64)] = []
        var table: UInt64?
        var index = 0
        while true {
            guard index + 2 * width <= bytes.count else {
                throw dynamic.size > Self.mostBytes ? Self.large : Self.cut
            }
            let tag = try Self.number(bytes, index, width)
            let value = try Self.number(bytes, index + width, width)
            index += 2 * width
            if tag == 0 { break }
            // DT_STRTAB
            if tag == 5 { table = value } else if Kind(rawValue: tag) != nil { names.append((tag, value)) }
        }
        guard !names.isEmpty else { return }
        guard let strings = table.flatMap(image.place(of:)) else { throw Self.cut }
        var left = Self.mostBytes
        for (tag, offset) in names {
            guard offset < strings.size else { throw Self.cut }
            let text = try Self.text(at: strings.offset + offset, &left, read)
            switch Kind(rawValue: tag) {
            case .needed, .auxiliary, .filter: needed.append(text)
            case .audit, .dependencyAudit: audits += Self.list(text)
            case .path, .runPath: runPaths += Self.list(text)
            case nil: break
            }
        }
    }

    /// The tags of the entries that name a file or a directory.
    private enum Kind: UInt64 {
        case needed = 1
        case path = 15
        case runPath = 29
        case dependencyAudit = 0x6fff_fefb
        case audit = 0x6fff_fefc
        case auxiliary = 0x7fff_fffd
        case filter = 0x7fff_ffff
    }

    /// An empty list has no entries, and an empty entry is the working directory.
    private static func list(_ text: String) -> [String] {
        text.isEmpty ? [] : text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    }

    private static func text(
        at offset: UInt64, _ left: inout Int, _ read: (UInt64, Int) -> [UInt8]
    ) throws(ELFFile.FormatError) -> String {
        // Most names are short.
        for count in [min(256, left), left] {
            let bytes = read(offset, count)
            if bytes.contains(0) {
                let text = bytes.prefix { $0 != 0 }
                left -= text.count
                return String(decoding: text, as: UTF8.self)
            }
            if bytes.count < count { throw cut }
        }
        throw large
    }

    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    private static func number(
        _ bytes: [UInt8], _ offset: Int, _ size: Int
    ) throws(ELFFile.FormatError) -> UInt64 {
        guard offset + size <= bytes.count else { throw cut }
        return bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// What the program headers say about the places of things.
    private struct Image {
        typealias Place = (offset: UInt64, size: UInt64)

        /// The size of an address: 4 or 8 bytes.
        let width: Int
        var interpreter: Place?
        /// The address of the dynamic section.
        var dynamic: UInt64?
        private var segments: [(address: UInt64, place: Place)] = []

        init?(reading read: (UInt64, Int) -> [UInt8]) throws(ELFFile.FormatError) {
            let header = read(0, 64)
            // 32 or 64 bits, little-endian, and a program or a shared library.
            guard header.starts(with: [0x7F, 0x45, 0x4C, 0x46]), header.count >= 52, header[5] == 1,
                header[4] == 1 || header.count == 64 && header[4] == 2, header[16] == 2 || header[16] == 3
            else { return nil }
            let isLong = header[4] == 2
            width = isLong ? 8 : 4
            let size = isLong ? 56 : 32
            // The kernel and the loader accept no other size.
            guard try ELFNeeds.number(header, isLong ? 54 : 42, 2) == size else { return nil }
            let count = Int(try ELFNeeds.number(header, isLong ? 56 : 44, 2))
            let table = read(try ELFNeeds.number(header, isLong ? 32 : 28, width), count * size)
            for start in stride(from: 0, to: count * size, by: size) {
                let kind = try ELFNeeds.number(table, start, 4)
                // PT_LOAD, PT_DYNAMIC and PT_INTERP
                guard (1...3).contains(kind) else { continue }
                let place = (
                    try ELFNeeds.number(table, start + width, width),
                    try ELFNeeds.number(table, start + 4 * width, width)
                )
                let address = try ELFNeeds.number(table, start + 2 * width, width)
                // No file is that long, and so the sums below can't overflow.
                guard place.0 < 1 << 62, place.1 < 1 << 62 else { throw ELFNeeds.cut }
                switch kind {
                case 1: segments.append((address, place))
                case 2: dynamic = address
                default: interpreter = interpreter ?? place
                }
            }
        }

        /// The place in the file of what is loaded at an address, up to the end of its segment.
        func place(of address: UInt64) -> Place? {
            for (start, place) in segments where address >= start && address - start < place.size {
                return (place.offset + (address - start), place.size - (address - start))
            }
            return nil
        }
    }
}
