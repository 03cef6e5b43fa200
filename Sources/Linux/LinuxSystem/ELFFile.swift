/// The libraries that a shared library needs and the functions that it exports.
///
/// They are read from the section headers of a 64-bit little-endian ELF file (System V ABI, chapters 4 and
/// 5). All offsets are checked, because the file may come from any source.
public struct ELFFile: Equatable, Sendable {
    /// Why a file is not a shared library that this type can read.
    public struct FormatError: Error, Equatable, Sendable {
        /// What is wrong with the file.
        public let finding: String

        public init(finding: String) {
            self.finding = finding
        }
    }

    /// The name by which programs ask the loader for the library (`DT_SONAME`); `nil` if it has none.
    public let soname: String?
    /// The file names in the `DT_NEEDED`, `DT_AUXILIARY` and `DT_FILTER` entries, in order; the loader loads
    /// and searches the libraries of all three.
    public let needed: [String]
    /// The directories of the `DT_RUNPATH` and `DT_RPATH` entries, in order; they may contain `$ORIGIN`.
    public let runPaths: [String]
    /// The names of the functions that the library defines and exports.
    public let functions: Set<String>

    private struct Section {
        var type: UInt64
        var offset: UInt64
        var size: UInt64
        var link: UInt64
    }

    /// Which functions to look for; a Swift library exports tens of thousands.
    public enum FunctionSearch: Sendable {
        /// All functions.
        case all
        /// Only the functions with these names.
        case only([String])
    }

    /// Reads a library.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - search: Which of the exported functions ``functions`` should contain.
    /// - Throws: ``FormatError`` for another format or a truncated file.
    public init(_ bytes: [UInt8], functions search: FunctionSearch = .all) throws(FormatError) {
        let view = View(bytes: bytes)
        guard bytes.count >= 64, bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else {
            throw FormatError(finding: "it is not an ELF file")
        }
        guard bytes[4] == 2, bytes[5] == 1, try view.number(16, 2) == 3 else {
            throw FormatError(finding: "it is not a 64-bit little-endian shared library")
        }
        try view.checkSegments()
        let sections = try view.sections()
        var soname: String?
        var needed: [String] = []
        var runPaths: [String] = []
        var functions: Set<String> = []
        for section in sections {
            guard section.type == 6 || section.type == 11, section.link < sections.count else { continue }
            let strings = sections[Int(section.link)]
            // SHT_DYNAMIC (6) has entries of 16 bytes, SHT_DYNSYM (11) has entries of 24.
            let entrySize: UInt64 = section.type == 6 ? 16 : 24
            for index in 0..<section.size / entrySize {
                let entry = section.offset + index * entrySize
                if section.type == 6 {
                    let tag = try view.number(entry, 8)
                    if tag == 0 { break }
                    // DT_NEEDED, DT_AUXILIARY and DT_FILTER
                    let isNeed = tag == 1 || tag == 0x7fff_fffd || tag == 0x7fff_ffff
                    // DT_SONAME, DT_RPATH and DT_RUNPATH
                    guard isNeed || tag == 14 || tag == 15 || tag == 29 else { continue }
                    let text = try view.text(try view.number(entry + 8, 8), in: strings)
                    if isNeed {
                        needed.append(text)
                    } else if tag == 14 {
                        soname = text
                    } else {
                        // An empty entry is the working directory.
                        if !text.isEmpty {
                            runPaths += text.split(separator: ":", omittingEmptySubsequences: false)
                                .map(String.init)
                        }
                    }
                } else {
                    let kind = try view.number(entry + 4, 1) & 0xF
                    // STT_FUNC and STT_GNU_IFUNC; section 0 means that the function is used here but defined
                    // elsewhere.
                    guard kind == 2 || kind == 10, try view.number(entry + 6, 2) != 0 else { continue }
                    let place = try view.number(entry, 4)
                    switch search {
                    case .all: functions.insert(try view.text(place, in: strings))
                    case .only(let names):
                        for name in names where try view.has(name, at: place, in: strings) {
                            functions.insert(name)
                        }
                    }
                }
            }
        }
        self.soname = soname
        self.needed = needed
        self.runPaths = runPaths
        self.functions = functions
    }

    private struct View {
        let bytes: [UInt8]
        private static let cut = FormatError(finding: "the file is truncated")

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        func number(_ offset: UInt64, _ size: UInt64) throws(FormatError) -> UInt64 {
            guard offset <= UInt64(bytes.count), size <= UInt64(bytes.count) - offset else { throw Self.cut }
            var value: UInt64 = 0
            for index in stride(from: Int(size) - 1, through: 0, by: -1) {
                value = value << 8 | UInt64(bytes[Int(offset) + index])
            }
            return value
        }

        /// Checks that the file contains all loaded segments, which is not so while it is being copied.
        func checkSegments() throws(FormatError) {
            let (offset, size, count) = (try number(32, 8), try number(54, 2), try number(56, 2))
            guard offset < 1 << 40 else { throw Self.cut }
            for index in 0..<count {
                let header = offset + index * size
                guard try number(header, 4) == 1 else { continue }
                let (start, length) = (try number(header + 8, 8), try number(header + 32, 8))
                guard start <= UInt64(bytes.count), length <= UInt64(bytes.count) - start else {
                    throw Self.cut
                }
            }
        }

        func sections() throws(FormatError) -> [Section] {
            let (offset, size, count) = (try number(40, 8), try number(58, 2), try number(60, 2))
            guard offset < 1 << 40 else { throw Self.cut }
            guard offset != 0, size >= 64 else { throw FormatError(finding: "it has no section headers") }
            var sections: [Section] = []
            for index in 0..<count {
                let header = offset + index * size
                sections.append(
                    Section(
                        type: try number(header + 4, 4), offset: try number(header + 24, 8),
                        size: try number(header + 32, 8), link: try number(header + 40, 4)))
                let last = sections[sections.count - 1]
                // SHT_NOBITS occupies no space in the file.
                guard
                    last.type == 8
                        || (last.offset <= UInt64(bytes.count)
                            && last.size <= UInt64(bytes.count) - last.offset)
                else { throw Self.cut }
            }
            return sections
        }

        func text(_ offset: UInt64, in strings: Section) throws(FormatError) -> String {
            String(decoding: try bytes(at: offset, in: strings).prefix { $0 != 0 }, as: UTF8.self)
        }

        /// Whether the string at an offset equals a text, without creating a String for it.
        func has(_ text: String, at offset: UInt64, in strings: Section) throws(FormatError) -> Bool {
            let found = try bytes(at: offset, in: strings)
            let count = text.utf8.count
            return found.count > count && found[found.startIndex + count] == 0
                && found.prefix(count).elementsEqual(text.utf8)
        }

        private func bytes(at offset: UInt64, in strings: Section) throws(FormatError) -> ArraySlice<UInt8> {
            guard offset < strings.size, strings.offset <= UInt64(bytes.count),
                strings.size <= UInt64(bytes.count) - strings.offset
            else { throw Self.cut }
            return bytes[Int(strings.offset + offset)..<Int(strings.offset + strings.size)]
        }
    }
}
