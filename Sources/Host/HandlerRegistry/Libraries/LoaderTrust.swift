import LinuxSystem
import StrictFiles

/// Decides whether a host that runs as root may let the dynamic loader (ld.so(8)) load what a plugin or a
/// program needs: root alone must be able to change each file, and to add one where the loader searches.
///
/// Examined are the directories of run paths with all libraries in them, libraries that are needed by their
/// paths, a program's own loader, and in turn the run paths of everything found. The directories that the
/// loader searches for every program are trusted as they are, because root has chosen them in `ld.so.conf`;
/// only the run paths of the libraries there are followed.
///
/// A value remembers what it has found safe. Use it for only one pass over the files, because they can
/// change.
struct LoaderTrust {
    /// The most libraries that are read for one plugin or program.
    ///
    /// Our choice: some times as many as the largest directory of libraries that is a run path, such as that
    /// of a Conda environment. To read so many takes some tenths of a second.
    static let mostLibraries = 4096
    /// How deep the old subdirectories of a run path can be nested.
    private static let mostOldSubdirectories = 4

    private var files = FileTrust()
    /// The directories of run paths that were examined.
    private var directories: Set<String> = []
    /// The libraries that were examined or wait for it.
    ///
    /// The last name of a path can be a link, which the loader does not follow for `$ORIGIN`.
    private var libraries: Set<String> = []
    private var waiting: [String] = []
    /// The directories of `ld.so.conf` and the standard ones, also without links.
    private var system: (list: [String], real: Set<String>)?
    /// Names that were searched for in the system's directories.
    private var searched: Set<String> = []

    /// Checks one file and everything on its path, as ``FileTrust`` does, and whether others can create it if
    /// it does not exist.
    ///
    /// - Returns: The problem; `nil` if the file can be trusted, or if the host is not root.
    /// - Throws: The system call's error if the path can't be followed.
    mutating func problem(
        with path: String, called name: String
    ) throws(SystemCallError) -> FileTrust.Problem? {
        if let problem = try files.problem(with: path, called: name) { return problem }
        guard FileContents.isRoot, !SmallFile.exists(path) else { return nil }
        let directory = Origin(of: try PathWalk(path).realPath).directory
        return try files.problem(withNamesIn: directory, called: name).map {
            ($0.finding, "Use a file in a directory that only root can write to")
        }
    }

    /// Examines what a plugin's library loads.
    ///
    /// - Parameters:
    ///   - name: The file name of the library, for the message.
    ///   - needs: The library's needs.
    ///   - copies: The directory below which the library is copied into a directory of its own, which is its
    ///     `$ORIGIN`.
    /// - Returns: The problem; `nil` if only root can change what is loaded, or if the host is not root.
    mutating func problem(
        ofPlugin name: String, _ needs: ELFNeeds, copiedBelow copies: String
    ) -> FileTrust.Problem? {
        guard FileContents.isRoot else { return nil }
        let directory = "\((try? DirectoryTree.realPath(of: copies)) ?? copies)/copy"
        return examine(needs, of: "library '\(name)'", Origin(directory: directory, isCopy: true))
    }

    /// Examines what a program loads.
    ///
    /// - Parameter path: The program's path; links are followed. A file in another format than ELF loads
    ///   nothing.
    /// - Returns: As for a plugin.
    mutating func problem(ofProgram path: String) -> FileTrust.Problem? {
        guard FileContents.isRoot, let real = try? DirectoryTree.realPath(of: path) else { return nil }
        do {
            guard let needs = try ELFNeeds.of(real) else { return nil }
            return examine(needs, of: "'\(path)'", Origin(of: real))
        } catch {
            return Self.unreadable("'\(path)'", error)
        }
    }

    /// Examines needs, and those of everything that is found for them.
    private mutating func examine(
        _ needs: ELFNeeds, of name: String, _ origin: Origin
    ) -> FileTrust.Problem? {
        let most = libraries.count + Self.mostLibraries
        var problem: FileTrust.Problem?
        do throws(SystemCallError) {
            problem = try self.problem(ofLoaderIn: needs, of: name)
            if problem == nil { problem = try look(needs, of: name, origin) }
            while problem == nil, let path = waiting.popLast() {
                if libraries.count > most {
                    problem = (
                        "untrusted: \(name) loads libraries from directories that contain more than "
                            + "\(Self.mostLibraries) libraries, and the host, which runs as root, examines no more",
                        "Put the libraries that it needs into a directory without others, and link it again with that run path"
                    )
                } else {
                    problem = try self.problem(ofLibrary: path)
                }
            }
        } catch {
            problem = (
                "untrusted: the host runs as root, and can't examine what \(name) loads: \(error)",
                "Correct the run path of \(name), or the files there"
            )
        }
        // What still waits was not examined.
        if problem != nil { self = Self() }
        return problem
    }

    private mutating func problem(ofLibrary path: String) throws(SystemCallError) -> FileTrust.Problem? {
        let found: ELFNeeds?
        do {
            found = try ELFNeeds.of(path)
        } catch {
            return Self.unreadable("library '\(path)'", error)
        }
        guard let found else { return nil }
        // Only a program has a loader of its own and auditors.
        let needs = ELFNeeds(needed: found.needed, runPaths: found.runPaths)
        return try look(needs, of: "library '\(path)'", Origin(of: path))
    }

    private mutating func problem(
        ofLoaderIn needs: ELFNeeds, of name: String
    ) throws(SystemCallError) -> FileTrust.Problem? {
        // The kernel starts no program with an empty name, which files with symbols for debuggers have.
        guard let path = needs.interpreter, !path.isEmpty else { return nil }
        guard path.hasPrefix("/") else { return Self.unclear("\(name) names the loader '\(path)'") }
        return try file(path, called: "the loader of \(name)")
    }

    /// Examines the places that one file names, and notes the libraries that are found there.
    private mutating func look(
        _ needs: ELFNeeds, of name: String, _ origin: Origin
    ) throws(SystemCallError) -> FileTrust.Problem? {
        let found = "what \(name) loads by its run path"
        var own: [String] = []
        for entry in needs.runPaths {
            guard let place = origin.place(of: entry) else {
                return Self.unclear("the run path of \(name) has the entry '\(entry)'")
            }
            guard case .path(let directory) = place else { continue }
            own.append(directory)
            if let problem = try self.directory(directory, called: found) { return problem }
        }
        for library in needs.needed + needs.audits {
            if library.contains("/") {
                guard let place = origin.place(of: library) else {
                    return Self.unclear("\(name) needs the library '\(library)'")
                }
                guard case .path(let path) = place else { continue }
                if let problem = try problem(with: path, called: found) { return problem }
                // Without `..` in it, for the same reason as in directory(_:called:depth:).
                let directory = Origin(of: path).directory
                let name = path[(path.lastIndex(of: "/") ?? path.startIndex)...]
                note(((try? DirectoryTree.realPath(of: directory)) ?? directory) + name)
                continue
            }
            // A library can have any name.
            for directory in own where !RunPath.isLibrary(library) {
                if let problem = try file("\(directory)/\(library)", called: found) { return problem }
            }
            if searched.insert(library).inserted,
                let path = LoaderPaths.find(library, in: systemDirectories().list)
            {
                note(path)
            }
        }
        return nil
    }

    /// Examines a directory of a run path, and notes the libraries in it; `depth` is the number of old
    /// subdirectories that it is inside of.
    private mutating func directory(
        _ directory: String, called found: String, depth: Int = 0
    ) throws(SystemCallError) -> FileTrust.Problem? {
        let system = systemDirectories().real
        guard !system.contains(directory), directories.insert(directory).inserted else { return nil }
        // Entries such as $ORIGIN/../lib, which libraries in lib have, would lead to ever longer paths.
        let real = (try? DirectoryTree.realPath(of: directory)) ?? directory
        // A system's directory by another name: only the way to it matters.
        if system.contains(real) { return try files.problem(with: directory, called: found) }
        if let problem = try files.problem(withNamesIn: directory, called: found) { return problem }
        guard real == directory || directories.insert(real).inserted else { return nil }
        for name in try Self.names(in: real) {
            let path = "\(real)/\(name)"
            if RunPath.isLibrary(name) {
                // Also links that lead nowhere yet.
                if let problem = try file(path, called: found) { return problem }
            } else if name == "glibc-hwcaps", Self.canBeDirectory(path) {
                if let problem = try files.problem(withNamesIn: path, called: found) { return problem }
                for below in try Self.names(in: path)
                where Self.canBeDirectory("\(path)/\(below)") {
                    let problem = try self.directory(
                        "\(path)/\(below)", called: found, depth: Self.mostOldSubdirectories)
                    if let problem { return problem }
                }
            } else if depth < Self.mostOldSubdirectories, RunPath.oldSubdirectories.contains(name),
                Self.canBeDirectory(path)
            {
                let problem = try self.directory(path, called: found, depth: depth + 1)
                if let problem { return problem }
            }
        }
        return nil
    }

    /// The names in a directory; none if there is no such directory.
    private static func names(in directory: String) throws(SystemCallError) -> [String] {
        do {
            return try DirectoryTree.names(in: directory)
        } catch  where error.isOfMissingFile {
            return []
        }
    }

    private mutating func file(
        _ path: String, called found: String
    ) throws(SystemCallError) -> FileTrust.Problem? {
        if let problem = try problem(with: path, called: found) { return problem }
        note(path)
        return nil
    }

    private mutating func note(_ path: String) {
        if libraries.insert(path).inserted { waiting.append(path) }
    }

    private mutating func systemDirectories() -> (list: [String], real: Set<String>) {
        if let system { return system }
        let list = LoaderPaths.directories()
        let real = Set(list + list.compactMap { try? DirectoryTree.realPath(of: $0) })
        system = (list, real)
        return (list, real)
    }

    /// A link that leads nowhere yet can become a directory.
    private static func canBeDirectory(_ path: String) -> Bool {
        DirectoryTree.isDirectory(path) || !SmallFile.exists(path)
    }

    private static func unclear(_ finding: String) -> FileTrust.Problem {
        (
            "untrusted: \(finding), and where that leads depends on the task or the machine",
            "Link it again with absolute paths, or with those that begin with $ORIGIN"
        )
    }

    private static func unreadable(_ name: String, _ error: ELFFile.FormatError) -> FileTrust.Problem {
        (
            "untrusted: the host runs as root, and can't examine what \(name) loads: \(error.finding)",
            "Link it again, or install it again"
        )
    }
}

/// The directory of a file, which is `$ORIGIN` in its run path.
private struct Origin {
    /// Where an entry leads.
    enum Place {
        /// A path that begins with `/`.
        case path(String)
        /// Into the directory of a plugin's copy, where only the host can put files.
        case copy
    }

    var directory: String
    /// Whether the directory is that of a copy, which does not exist yet.
    var isCopy: Bool

    init(directory: String, isCopy: Bool) {
        self.directory = directory
        self.isCopy = isCopy
    }

    init(of path: String) {
        self.init(directory: String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]), isCopy: false)
    }

    /// Where an entry leads; `nil` if that depends on the working directory, or on the loader's other
    /// variables.
    func place(of entry: String) -> Place? {
        for variable in ["$ORIGIN", "${ORIGIN}"] where entry == variable || entry.hasPrefix(variable + "/") {
            let rest = entry.dropFirst(variable.count)
            guard !rest.contains("$") else { return nil }
            guard isCopy else { return .path(directory + rest) }
            let path = PathWalk.normalized(directory + rest)
            return PathWalk.isInside(path, directory) ? .copy : .path(path)
        }
        return entry.hasPrefix("/") && !entry.contains("$") ? .path(entry) : nil
    }
}
