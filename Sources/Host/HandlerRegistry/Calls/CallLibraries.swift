import LinuxSystem
import StrictFiles
import TaskModel

/// The directories that are searched for the libraries of calls before those of the dynamic loader.
public struct CallSearch: Equatable, Sendable {
    /// The directories, in the order of the search.
    ///
    /// A host searches one directory: its plugins directory.
    public var directories: [String]
    /// Whether a library that was not found is an error.
    ///
    /// It is false before a build, which may create the library.
    public var mustExist: Bool

    public init(_ directories: [String], mustExist: Bool = true) {
        self.directories = directories
        self.mustExist = mustExist
    }
}

/// Checks a call's functions against its libraries, without loading them.
struct CallLibraries {
    private let search: CallSearch
    private let directories = LoaderPaths.directories()
    private var known: [String: (identity: FileIdentity, file: Result<ELFFile, ELFFile.FormatError>)] = [:]
    /// The files that the present scan has checked, by path; thousands of calls can share a library.
    private var looked: [String: Result<ELFFile, ELFFile.FormatError>] = [:]
    /// The path of each library that the present scan has searched for, by name; `nil` if it was not found.
    private var places: [String: String?] = [:]

    init(_ search: CallSearch) {
        self.search = search
    }

    /// Forgets where libraries are, because they may have changed since the last scan.
    mutating func beginScan() {
        looked = [:]
        places = [:]
    }

    /// Reports libraries that were not found, and functions that the libraries do not export.
    mutating func check(_ program: CallProgram, _ places: CallPlaces, _ problems: ProblemList) {
        var reported: Set<String> = []
        for (invocation, place) in zip(program.invocations, places.functions) {
            let library = invocation.library ?? program.library
            guard let path = path(of: library) else {
                if search.mustExist, reported.insert(library).inserted {
                    problems.error(
                        invocation.library == nil ? places.library : place,
                        "library '\(library)' is not \(placesLooked)",
                        "Install its package, or put it in the plugins directory. Use the name that 'ldconfig -p' lists"
                    )
                }
                continue
            }
            let has = has(invocation.function, path, depth: 0)
            if let finding = has.finding {
                if reported.insert(library).inserted {
                    problems.error(
                        places.library, "library '\(library)': \(finding)",
                        "Give the name of a shared library, not of a linker script")
                }
            } else if !has.function {
                let near = Nearest.match(invocation.function, in: functions(path, depth: 0))
                problems.error(
                    place, "\(library) has no function '\(invocation.function.shortened)'",
                    near.map { "Did you mean '\($0)'?" }
                        ?? "List its functions with: nm -D --defined-only \(path)")
            }
        }
    }

    /// Whether a library exports a function, or one of its dependencies does; the loader searches those, too.
    ///
    /// - Returns: Whether the function was found, and the problem with the library's own file or `nil`.
    private mutating func has(
        _ function: String, _ path: String, depth: Int
    ) -> (function: Bool, finding: String?) {
        let file: ELFFile
        do {
            file = try elf(path)
        } catch {
            return (false, error.finding)
        }
        if file.functions.contains(function) { return (true, nil) }
        guard depth < Self.mostNeeded else { return (false, nil) }
        for needed in file.needed {
            // A missing or damaged dependency shows when the library is loaded.
            if let path = self.path(of: needed), has(function, path, depth: depth + 1).function {
                return (true, nil)
            }
        }
        return (false, nil)
    }

    /// The functions of a library and its dependencies, to suggest a similar name.
    private mutating func functions(_ path: String, depth: Int) -> Set<String> {
        guard let file = try? elf(path) else { return [] }
        var functions = file.functions
        guard depth < Self.mostNeeded else { return functions }
        for needed in file.needed {
            if let path = self.path(of: needed) {
                functions.formUnion(self.functions(path, depth: depth + 1))
            }
        }
        return functions
    }

    /// How many levels of dependencies are searched.
    private static let mostNeeded = 3

    /// The searched places, such as `in /usr/lib/bgtask/plugins, nor where 'ldconfig -p' finds libraries`.
    private var placesLooked: String {
        let places = search.directories.map { "in \($0)" } + ["where 'ldconfig -p' finds libraries"]
        return places.joined(separator: ", nor ")
    }

    private mutating func path(of library: String) -> String? {
        if let place = places[library] { return place }
        let place =
            LoaderPaths.find(library, in: search.directories)
            ?? LoaderPaths.find(library, in: directories)
        places[library] = .some(place)
        return place
    }

    private mutating func elf(_ path: String) throws(ELFFile.FormatError) -> ELFFile {
        if let result = looked[path] { return try result.get() }
        let result = Result { () throws(ELFFile.FormatError) in try read(path) }
        looked[path] = result
        return try result.get()
    }

    private mutating func read(_ path: String) throws(ELFFile.FormatError) -> ELFFile {
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
