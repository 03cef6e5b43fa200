import LinuxSystem
import Testing

/// What a file in ELF format loads, read from small files that are made here.
struct ELFNeedsTests {
    /// The tags of the entries in a dynamic section, and the strings that they refer to.
    private static let entries: [(tag: UInt64, text: String)] = [
        (1, "libc.so.6"), (1, "/opt/far.so"), (0x7fff_ffff, "filter.so"), (0x7fff_fffd, "auxiliary.so"),
        (0x6fff_fefc, "a:b"), (0x6fff_fefb, "depaudit"), (29, "/x:$ORIGIN/y"), (15, "old"), (21, ""),
    ]

    private static func bytes(_ number: UInt64, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }

    /// A program with three program headers, an interpreter, a dynamic section and its strings, in one
    /// segment at the address 0x10000.
    private static func program(width: Int, last: [UInt64] = [0, 0]) -> [UInt8] {
        func word(_ number: Int) -> [UInt8] { bytes(UInt64(number), width) }
        func half(_ number: Int) -> [UInt8] { bytes(UInt64(number), 2) }
        let (header, entry) = width == 8 ? (64, 56) : (52, 32)
        let interpreter = Array("/lib/ld.so\0".utf8)
        let interpreterPlace = header + 3 * entry
        let textPlace = interpreterPlace + interpreter.count
        var text: [UInt8] = [0]
        var dynamic: [UInt8] = []
        for (tag, name) in entries {
            dynamic += bytes(tag, width) + word(text.count)
            text += Array(name.utf8) + [0]
        }
        let dynamicPlace = textPlace + text.count
        dynamic += word(5) + word(0x10000 + textPlace) + last.flatMap { bytes($0, width) }
        let size = dynamicPlace + dynamic.count
        func segment(_ kind: Int, _ place: Int, _ size: Int) -> [UInt8] {
            bytes(UInt64(kind), 4) + (width == 8 ? bytes(4, 4) : [])
                + [place, 0x10000 + place, 0, size, size].flatMap(word)
                + (width == 8 ? word(1) : bytes(4, 4) + word(1))
        }
        let start: [UInt8] =
            [0x7F, 0x45, 0x4C, 0x46, width == 8 ? 2 : 1, 1, 1] + Array(repeating: 0, count: 9)
        let head =
            start + half(3) + half(62) + bytes(1, 4) + word(0) + word(header) + word(0) + bytes(0, 4)
            + half(header) + half(entry) + half(3) + half(0) + half(0) + half(0)
        return head + segment(1, 0, size) + segment(2, dynamicPlace, dynamic.count)
            + segment(3, interpreterPlace, interpreter.count) + interpreter + text + dynamic
    }

    @Test(arguments: [4, 8])
    func `all names are read, of files with 32 and with 64 bits`(width: Int) throws {
        let needs = try #require(try ELFNeeds.of(bytes: Self.program(width: width)))
        #expect(needs.interpreter == "/lib/ld.so")
        #expect(needs.needed == ["libc.so.6", "/opt/far.so", "filter.so", "auxiliary.so"])
        #expect(needs.audits == ["a", "b", "depaudit"])
        #expect(needs.runPaths == ["/x", "$ORIGIN/y", "old"])
    }

    @Test(arguments: [4, 8])
    func `a file that is cut anywhere is an error, or no program`(width: Int) throws {
        let program = Self.program(width: width)
        let header = width == 8 ? 64 : 52
        for length in 0..<program.count {
            let cut = Array(program.prefix(length))
            if length < header {
                #expect(try ELFNeeds.of(bytes: cut) == nil)
            } else {
                #expect(throws: ELFFile.FormatError.self) { try ELFNeeds.of(bytes: cut) }
            }
        }
    }

    /// Each byte of the headers has its greatest value once, which makes large counts, sizes and offsets.
    @Test(arguments: [4, 8])
    func `no number in the file stops the reader`(width: Int) throws {
        let program = Self.program(width: width)
        for place in 16..<program.count {
            for count in [1, 4, 8] where place + count <= program.count {
                var damaged = program
                for index in place..<place + count { damaged[index] = 0xFF }
                _ = try? ELFNeeds.of(bytes: damaged)
            }
        }
    }

    @Test func `a dynamic section without an end is an error`() throws {
        let program = Self.program(width: 8, last: [21, 0])
        #expect(throws: ELFFile.FormatError(finding: "the file is truncated")) {
            try ELFNeeds.of(bytes: program)
        }
    }

    @Test func `a file of another kind loads nothing`() throws {
        #expect(try ELFNeeds.of(bytes: Array("#!/bin/sh\n".utf8)) == nil)
        #expect(try ELFNeeds.of("/dev/null") == nil)
        #expect(try ELFNeeds.of("/missing") == nil)
    }
}
