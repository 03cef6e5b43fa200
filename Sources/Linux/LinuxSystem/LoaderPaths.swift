/// The directories in which the dynamic loader looks for libraries (ld.so(8)), except those of environment
/// variables.
public enum LoaderPaths {
    /// The directories in `/etc/ld.so.conf` and the files that it includes, then the standard directories.
    ///
    /// - Parameter configuration: The loader's configuration; only tests use another one.
    /// - Returns: The absolute paths, each once.
    public static func directories(configuration: String = "/etc/ld.so.conf") -> [String] {
        var directories: [String] = []
        read(configuration, into: &directories, depth: 0)
        #if arch(x86_64)
            let multiarch = "x86_64-linux-gnu"
        #else
            let multiarch = "aarch64-linux-gnu"
        #endif
        directories += [
            "/lib/\(multiarch)", "/usr/lib/\(multiarch)", "/lib64", "/usr/lib64", "/lib", "/usr/lib",
        ]
        var seen: Set<String> = []
        return directories.filter { seen.insert($0).inserted }
    }

    /// The path of the library with a soname; `nil` if none of the directories contains it.
    public static func find(_ soname: String, in directories: [String]) -> String? {
        directories.lazy.map { "\($0)/\(soname)" }.first { path in
            // A path that cannot be read is ignored, as the loader does.
            (try? FileIdentity(of: path))?.isRegular ?? false
        }
    }

    private static func read(_ path: String, into directories: inout [String], depth: Int) {
        guard depth < 4, let bytes = try? FileContents.read(path, limit: 64 << 10) else { return }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let text = line.prefix { $0 != "#" }
            let words = text.split { $0 == " " || $0 == "\t" }
            if words.first == "include" {
                for pattern in words.dropFirst() {
                    // As ldconfig does: relative to the file that has the line.
                    let directory = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
                    let absolute = pattern.hasPrefix("/") ? String(pattern) : "\(directory)/\(pattern)"
                    include(absolute, into: &directories, depth: depth)
                }
            } else if let first = words.first, first.hasPrefix("/") {
                directories.append(String(first))
            }
        }
    }

    /// Handles an include directive; a pattern may have one `*`, in the file name.
    ///
    /// Distributions use only these forms: `/etc/ld.so.conf.d/*.conf`, and the same without `/etc/`.
    private static func include(_ pattern: String, into directories: inout [String], depth: Int) {
        guard let slash = pattern.lastIndex(of: "/") else { return }
        let (directory, file) = (String(pattern[..<slash]), pattern[pattern.index(after: slash)...])
        guard let star = file.firstIndex(of: "*") else {
            return read(pattern, into: &directories, depth: depth + 1)
        }
        let (prefix, suffix) = (file[..<star], file[file.index(after: star)...])
        for name in (try? DirectoryTree.names(in: directory)) ?? []
        where name.hasPrefix(prefix) && name.hasSuffix(suffix) {
            read("\(directory)/\(name)", into: &directories, depth: depth + 1)
        }
    }
}
