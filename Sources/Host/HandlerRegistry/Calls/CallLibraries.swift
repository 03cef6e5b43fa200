import LinuxSystem
import StrictFiles
import TaskModel

/// Checks a call's functions against its libraries, without loading them.
struct CallLibraries {
    let pluginsDirectory: String?
    private let directories = LoaderPaths.directories()
    private var known: [String: (identity: FileIdentity, file: Result<ELFFile, ELFFile.FormatError>)] = [:]

    init(pluginsDirectory: String?) {
        self.pluginsDirectory = pluginsDirectory
    }

    /// Reports libraries that are not there and functions that they do not have.
    mutating func check(_ program: CallProgram, _ places: CallPlaces, _ problems: ProblemList) {
        var reported: Set<String> = []
        for (invocation, place) in zip(program.invocations, places.functions) {
            let library = invocation.library ?? program.library
            guard let path = path(of: library) else {
                if reported.insert(library).inserted {
                    problems.error(
                        invocation.library == nil ? places.library : place,
                        "library '\(library)' was not found",
                        "Install its package, or put it in the plugins directory. Use the name that 'ldconfig -p' lists"
                    )
                }
                continue
            }
            var functions: Set<String> = []
            if let finding = has(invocation.function, path, &functions, depth: 0) {
                if reported.insert(library).inserted {
                    problems.error(
                        places.library, "library '\(library)': \(finding)",
                        "Name a shared library, not a linker script")
                }
            } else if !functions.contains(invocation.function) {
                let near = Nearest.match(invocation.function, in: functions)
                problems.error(
                    place, "\(library) has no function '\(invocation.function.shortened)'",
                    near.map { "Did you mean '\($0)'?" }
                        ?? "List its functions with: nm -D --defined-only \(path)")
            }
        }
    }

    /// Gathers the functions of a library and of those that it needs, where the loader looks too.
    ///
    /// - Returns: What is wrong with the first library; `nil` if nothing is.
    private mutating func has(_ function: String, _ path: String, _ functions: inout Set<String>, depth: Int)
        -> String?
    {
        let file: ELFFile
        do {
            file = try elf(path)
        } catch {
            return error.finding
        }
        functions.formUnion(file.functions)
        guard !functions.contains(function), depth < 3 else { return nil }
        for needed in file.needed {
            // A needed library that is missing or broken shows when the first one is loaded.
            if let path = self.path(of: needed), !functions.contains(function) {
                _ = has(function, path, &functions, depth: depth + 1)
            }
        }
        return nil
    }

    private func path(of library: String) -> String? {
        if let pluginsDirectory, let path = LoaderPaths.find(library, in: [pluginsDirectory]) { return path }
        return LoaderPaths.find(library, in: directories)
    }

    private mutating func elf(_ path: String) throws(ELFFile.FormatError) -> ELFFile {
        guard let identity = try? FileIdentity(of: path) else {
            throw ELFFile.FormatError(finding: "it can't be read")
        }
        if let known = known[path], known.identity == identity { return try known.file.get() }
        let result = Result { () throws(ELFFile.FormatError) in
            guard let bytes = try? FileContents.read(path) else {
                throw ELFFile.FormatError(finding: "it can't be read")
            }
            return try ELFFile(bytes)
        }
        known[path] = (identity, result)
        return try result.get()
    }
}
