/// The functions of an ELF file with their addresses, for the display of stacks.
///
/// They come from `.symtab`, which also contains static functions, or else from `.dynsym`. The list is empty
/// if the file is not a 64-bit little-endian ELF file or is damaged.
public struct ELFSymbols: Sendable {
    private struct Function {
        let start: UInt64
        let size: UInt64
        /// The place of the name in the file.
        let name: UInt64
    }

    /// The functions, sorted by start address.
    private let functions: [Function]
    private let segments: [(offset: UInt64, size: UInt64, address: UInt64)]
    /// The file; a name is read only when it is wanted, because a hostile file can give a million functions
    /// the same long name.
    private let file: Bytes
    /// The size of the file that was read, in bytes.
    public var size: Int { file.bytes.count }

    /// Reads the symbols of a file; a file of more than `limit` bytes counts as having none.
    public init(path: String, limit: Int) {
        guard let bytes = try? FileContents.read(path, limit: limit), bytes.count <= limit else {
            self.init([])
            return
        }
        self.init(bytes)
    }

    /// Reads the symbols from the contents of a file.
    public init(_ bytes: [UInt8]) {
        let file = Bytes(bytes: bytes)
        self.file = file
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else {
            functions = []
            segments = []
            return
        }
        segments = file.table(offset: 32, entrySize: 54, count: 56).filter { file.number($0, 4) == 1 }.map {
            (file.number($0 &+ 8, 8), file.number($0 &+ 32, 8), file.number($0 &+ 16, 8))
        }
        let sections = file.table(offset: 40, entrySize: 58, count: 60)
        // SHT_SYMTAB is 2, SHT_DYNSYM 11.
        let symbols =
            sections.first { file.number($0 &+ 4, 4) == 2 }
            ?? sections.first { file.number($0 &+ 4, 4) == 11 }
        var functions: [Function] = []
        if let symbols, case let link = Int(file.number(symbols &+ 40, 4)), link < sections.count {
            let names = file.number(sections[link] &+ 24, 8)
            let start = file.number(symbols &+ 24, 8)
            let count = min(file.number(symbols &+ 32, 8) / 24, UInt64(bytes.count) / 24)
            functions.reserveCapacity(Int(count) / 2)
            for index in 0..<count {
                let entry = start &+ index * 24
                // STT_FUNC, defined in this file.
                guard file.number(entry &+ 4, 1) & 0xF == 2, file.number(entry &+ 6, 2) != 0 else { continue }
                functions.append(
                    Function(
                        start: file.number(entry &+ 8, 8), size: file.number(entry &+ 16, 8),
                        name: names &+ file.number(entry, 4)))
            }
        }
        self.functions = functions.sorted { $0.start < $1.start }
    }

    /// The function at an offset in the file, and the distance from its start; `nil` if there is none.
    public func function(atOffset offset: UInt64) -> (name: String, distance: UInt64)? {
        guard
            let segment = segments.first(where: { $0.offset <= offset && offset - $0.offset < $0.size })
        else { return nil }
        let address = offset - segment.offset &+ segment.address
        var low = 0
        var high = functions.count
        while low < high {
            let middle = (low + high) / 2
            if functions[middle].start <= address { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let function = functions[low - 1]
        let distance = address - function.start
        // Functions in assembly may have no size; they extend to the next function.
        let name = file.text(function.name)
        guard function.size == 0 || distance < function.size, !name.isEmpty else { return nil }
        return (name, distance)
    }

    /// Reads within the bounds of the bytes; anything outside reads as 0.
    private struct Bytes {
        let bytes: [UInt8]

        func number(_ offset: UInt64, _ size: Int) -> UInt64 {
            guard offset < UInt64(bytes.count), UInt64(size) <= UInt64(bytes.count) - offset else { return 0 }
            var value: UInt64 = 0
            for index in stride(from: size - 1, through: 0, by: -1) {
                value = value << 8 | UInt64(bytes[Int(offset) + index])
            }
            return value
        }

        func text(_ offset: UInt64) -> String {
            guard offset < UInt64(bytes.count) else { return "" }
            return String(decoding: bytes[Int(offset)...].prefix(4096).prefix { $0 != 0 }, as: UTF8.self)
        }

        /// The offsets of the entries of a table whose position the ELF header contains.
        func table(offset: UInt64, entrySize: UInt64, count: UInt64) -> [UInt64] {
            let (start, size) = (number(offset, 8), number(entrySize, 2))
            return (0..<number(count, 2)).map { start &+ $0 * size }
        }
    }
}
