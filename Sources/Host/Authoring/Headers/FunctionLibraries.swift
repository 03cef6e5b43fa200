import LinuxSystem
import StrictFiles

/// Finds the library that has a function.
struct FunctionLibraries {
    /// How many levels of the libraries that a library needs are searched, as the host does.
    private static let mostNeeded = 3

    private let directories = LoaderPaths.directories()
    private var read: [String: ELFFile?] = [:]

    /// Finds the library with a function.
    ///
    /// - Parameters:
    ///   - function: The name of the function.
    ///   - headers: The paths of the headers that declare it or include that declaration: the libraries of
    ///     their Debian packages, those with a similar name, and the C library are searched.
    /// - Returns: The name by which the loader finds it; `nil` if none is found.
    mutating func library(with function: String, declaredIn headers: [String]) -> String? {
        for header in headers {
            let links = HeaderDirectories.files(besides: header)
                .filter { $0.contains("/lib") && $0.hasSuffix(".so") }
            // The package of the C library has libraries for debugging, too, with the same functions.
            if links.contains(where: { $0.hasSuffix("/libc.so") }), let soname = ofTheSystem(function) {
                return soname
            }
            for link in links {
                guard let path = try? DirectoryTree.realPath(of: link), let found = self.file(at: path),
                    found.functions.contains(function), let soname = found.soname
                else { continue }
                return soname
            }
        }
        return first(of: headers.flatMap(similar), with: function) ?? ofTheSystem(function)
    }

    private mutating func ofTheSystem(_ function: String) -> String? {
        first(of: ["libc.so.6", "libm.so.6"], with: function)
    }

    private mutating func first(of names: [String], with function: String) -> String? {
        for soname in names {
            guard let path = LoaderPaths.find(soname, in: directories), let found = self.file(at: path),
                found.functions.contains(function)
            else { continue }
            return found.soname ?? soname
        }
        return nil
    }

    /// Why a library does not have a function; `nil` if it, or a library that it needs, has it.
    mutating func problem(of library: String, _ function: String) -> (finding: String, remedy: String)? {
        guard let path = LoaderPaths.find(library, in: directories) else {
            return ("it is not where 'ldconfig -p' finds libraries", "Use a name that 'ldconfig -p' lists")
        }
        guard file(at: path) != nil else {
            return ("it is not a shared library", "Use a name that 'ldconfig -p' lists")
        }
        if has(function, path, depth: 0) { return nil }
        let near = Nearest.match(function, in: file(at: path)?.functions ?? [])
        return (
            "it has no function '\(function)', although the header declares it",
            near.map { "Did you mean '\($0)'?" } ?? "List its functions with: nm -D --defined-only \(path)"
        )
    }

    private mutating func has(_ function: String, _ path: String, depth: Int) -> Bool {
        guard let found = file(at: path) else { return false }
        if found.functions.contains(function) { return true }
        guard depth < Self.mostNeeded else { return false }
        for needed in found.needed {
            if let path = LoaderPaths.find(needed, in: directories), has(function, path, depth: depth + 1) {
                return true
            }
        }
        return false
    }

    /// The names of libraries that are named like a header: `libsodium.so.23` for `sodium.h`.
    private func similar(_ header: String) -> [String] {
        let parts = header.split(separator: "/").map(String.init)
        guard let last = parts.last?.dropLast(2) else { return [] }
        let stems = Set([String(last)] + parts.dropLast().suffix(1))
        return directories.flatMap { directory in
            ((try? DirectoryTree.names(in: directory)) ?? []).filter { name in
                stems.contains { name.hasPrefix("lib\($0).so.") }
            }
        }
    }

    private mutating func file(at path: String) -> ELFFile? {
        if let known = read[path] { return known }
        let file = (try? FileContents.read(path)).flatMap { try? ELFFile($0) }
        read[path] = .some(file)
        return file
    }
}
