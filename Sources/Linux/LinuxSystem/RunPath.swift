/// The libraries in the run path of a library, which the dynamic loader searches before the system's
/// directories (ld.so(8)).
public enum RunPath {
    /// The real paths of the shared libraries in the absolute directories of a library's run path.
    ///
    /// `$ORIGIN` is left out: it is the directory of the library itself. Files that are not in ELF format,
    /// and everything that can't be read, are left out, too.
    public static func libraries(of library: String) -> [String] {
        guard let bytes = try? FileContents.read(library),
            let file = try? ELFFile(bytes, functions: .only([]))
        else { return [] }
        return libraries(in: directories(of: file.runPaths))
    }

    /// The absolute directories among the entries of a run path, without those that the loader searches for
    /// every library.
    public static func directories(of entries: [String]) -> [String] {
        let system = LoaderPaths.directories()
        return entries.filter { $0.hasPrefix("/") && !system.contains($0) }
    }

    /// The real paths of the shared libraries in directories; what can't be read is left out.
    public static func libraries(in directories: [String]) -> [String] {
        var found: [String] = []
        for directory in directories {
            for name in (try? DirectoryTree.names(in: directory)) ?? [] where isLibrary(name) {
                guard let path = try? DirectoryTree.realPath(of: "\(directory)/\(name)"),
                    !found.contains(path), hasFormat(path)
                else { continue }
                found.append(path)
            }
        }
        return found
    }

    /// Whether a file can be a shared library, by its name.
    public static func isLibrary(_ name: String) -> Bool {
        name.hasSuffix(".so") || name.split(separator: ".").contains("so")
    }

    /// The names of directories in each directory of a run path that the loader searches first, combined up
    /// to four levels deep: `tls/haswell/avx512_1/x86_64`.
    ///
    /// The C library has searched them until version 2.36, which Debian 12 has (`ld.so --help`). Older ones
    /// use more names of the processor's abilities, for processors of other kinds.
    public static let oldSubdirectories: Set<String> = [
        "tls", "haswell", "xeon_phi", "avx512_1", "x86_64", "aarch64", "atomics",
        "i586", "i686", "sse2",
    ]

    private static func hasFormat(_ path: String) -> Bool {
        (try? FileIdentity(of: path))?.isRegular == true
            && (try? FileContents.read(path, limit: 4))?.starts(with: [0x7F, 0x45, 0x4C, 0x46]) == true
    }
}
