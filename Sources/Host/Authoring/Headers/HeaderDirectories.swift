import LinuxSystem

/// Where this machine has the headers of libraries.
struct HeaderDirectories {
    #if arch(x86_64)
        private static let multiarch = "x86_64-linux-gnu"
    #else
        private static let multiarch = "aarch64-linux-gnu"
    #endif
    /// The directories in which the preprocessor looks by itself.
    static let standard = ["/usr/local/include", "/usr/include/\(multiarch)", "/usr/include"]
    /// Where packages tell their compiler options.
    private static let packageFiles = [
        "/usr/local/lib/pkgconfig", "/usr/local/share/pkgconfig", "/usr/lib/\(multiarch)/pkgconfig",
        "/usr/lib64/pkgconfig", "/usr/lib/pkgconfig", "/usr/share/pkgconfig",
    ]
    /// The most bytes that are read of a file of pkg-config, and of a list of dpkg.
    private static let mostRead = 4 << 20

    /// Directories beside the standard ones, from pkg-config.
    let further: [String]

    /// Asks pkg-config for the directories of some libraries (`libvips.so.42`) and headers; without it, there
    /// are none.
    ///
    /// The files of pkg-config are found by the libraries that they name, so a manifest gives no word to a
    /// program.
    init(libraries: [String], headers: [String], programs: HeaderPrograms) {
        let names = Set(
            Self.packages(linking: libraries)
                + headers.compactMap { Self.path(of: $0, in: Self.standard) ?? Self.pathBelow(of: $0) }
                .flatMap(Self.packages(with:)))
        guard !names.isEmpty, let program = programs.path(of: "pkg-config") else {
            further = []
            return
        }
        var found: [String] = []
        for name in names.sorted() {
            // A package whose own dependencies are not installed has no answer, and others still do.
            let options = programs.output([program, "--cflags-only-I", name]).map { $0.split { $0 <= 0x20 } }
            for option in options ?? [] {
                let text = String(decoding: option, as: UTF8.self)
                let path = String(text.dropFirst(2))
                if text.hasPrefix("-I/"), !found.contains(path), DirectoryTree.isDirectory(path) {
                    found.append(path)
                }
            }
        }
        further = found
    }

    /// The path of a header; `nil` if none of the directories has it.
    func path(of header: String) -> String? { Self.path(of: header, in: Self.standard + further) }

    /// The path of a header that a package keeps in a directory of its own, such as `libxml2/`.
    private static func pathBelow(of header: String) -> String? {
        let below = standard.flatMap { directory in
            ((try? DirectoryTree.names(in: directory)) ?? []).sorted().map { "\(directory)/\($0)" }
        }
        return path(of: header, in: below)
    }

    private static func path(of header: String, in directories: [String]) -> String? {
        directories.lazy.map { "\($0)/\(header)" }.first { (try? FileIdentity(of: $0))?.isRegular ?? false }
    }

    /// The names of pkg-config for some libraries: those whose files say `-lvips`.
    private static func packages(linking libraries: [String]) -> [String] {
        let options = Set(
            libraries.filter { $0.hasPrefix("lib") }.compactMap { library in
                library.firstRange(of: ".so").map { "-l" + library[..<$0.lowerBound].dropFirst(3) }
            })
        guard !options.isEmpty else { return [] }
        return packageFiles.flatMap { directory in
            ((try? DirectoryTree.names(in: directory)) ?? []).filter { $0.hasSuffix(".pc") }.filter { name in
                let bytes = (try? FileContents.read("\(directory)/\(name)", limit: mostRead)) ?? []
                return bytes.split(separator: UInt8(ascii: "\n")).contains { line in
                    line.starts(with: Array("Libs:".utf8))
                        && String(decoding: line, as: UTF8.self).split { " \t".contains($0) }
                            .contains { options.contains(String($0)) }
                }
            }.map { String($0.dropLast(3)) }
        }
    }

    /// The names of pkg-config in the Debian package that has a header.
    private static func packages(with header: String) -> [String] {
        files(besides: header).filter { $0.hasSuffix(".pc") }.compactMap {
            $0.split(separator: "/").last.map { String($0.dropLast(3)) }
        }
    }

    /// The files of the installed Debian package that has a header; empty on other systems.
    static func files(besides header: String) -> [String] {
        let lists = "/var/lib/dpkg/info"
        let names = ((try? DirectoryTree.names(in: lists)) ?? []).filter { $0.hasSuffix(".list") }
        // Headers are in packages for development, so that few of the lists need to be read.
        for name in names where name.contains("-dev") {
            guard let bytes = try? FileContents.read("\(lists)/\(name)", limit: mostRead) else { continue }
            let lines = bytes.split(separator: UInt8(ascii: "\n"))
            if lines.contains(where: { $0.elementsEqual(header.utf8) }) {
                return lines.map { String(decoding: $0, as: UTF8.self) }
            }
        }
        return []
    }
}
