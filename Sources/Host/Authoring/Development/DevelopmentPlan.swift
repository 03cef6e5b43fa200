import HandlerRegistry
import LinuxSystem
public import TaskModel

/// The contents of a plugin's directory, and how to build them.
public struct DevelopmentPlan: Equatable, Sendable {
    /// How the plugin's libraries are built.
    public enum Build: Equatable, Sendable {
        /// With `swift build`, because the directory contains `Package.swift`.
        case package
        /// With `make`, because the directory contains a Makefile.
        case makefile
        /// With `cargo build`, because the directory contains `Cargo.toml` and no Makefile.
        case crate
        /// With the C or C++ compiler, from all source files of the directory into one library.
        case compiler(sources: [String], library: String)
        /// Nothing is built: there are no sources, or the manifests have errors.
        case nothing
    }

    /// The absolute path of the plugin's directory.
    public var directory: String
    /// How the libraries are built.
    public var build: Build
    /// The absolute paths of the manifests.
    public var manifests: [String]
    /// The tasks of the manifests that have no errors.
    public var tasks: [TaskDeclaration]
    /// The plugins' libraries that the manifests name.
    public var libraries: [String]
    /// The libraries of calls that the dynamic loader does not find.
    ///
    /// They are in the plugin's directory or in the host's plugins directory.
    public var callLibraries: [String]
    /// The plugins directory of a host that runs with the standard settings.
    public var pluginsDirectory: String
    /// The problems that lint finds in the manifests and in a package's sources.
    public var problems: [ManifestProblem]

    /// Whether a manifest has an error, so that the plugin can't run.
    public var hasErrors: Bool {
        problems.contains { $0.severity == .error && manifests.contains($0.file) }
    }

    /// Reads a plugin's directory and checks its manifests.
    ///
    /// - Throws: ``AuthoringError`` if the directory has no manifest, or if it is not clear how to build it.
    public init(_ path: String, pluginsDirectory: String) throws(AuthoringError) {
        let names: [String]
        do {
            directory = try DirectoryTree.realPath(of: path)
            names = try DirectoryTree.names(in: directory)
        } catch {
            throw AuthoringError(path, "\(error)", "Give the plugin's directory")
        }
        let root = directory
        var manifests = names.filter(Self.isManifest).map { "\(root)/\($0)" }
        let further = (try? DirectoryTree.names(in: root + "/manifests")) ?? []
        manifests += further.filter(Self.isManifest).map { "\(root)/manifests/\($0)" }
        guard !manifests.isEmpty else {
            throw AuthoringError(
                root, "it contains no manifest (*.yaml)",
                "Write one, or begin with: bgtask new c NAME")
        }
        self.manifests = manifests
        let read = manifests.compactMap(ManifestLinter.manifest)
        tasks = read.flatMap(\.tasks)
        libraries = Set(read.compactMap(\.library)).sorted()
        callLibraries = Self.callLibraries(of: read).subtracting(libraries).sorted()
        self.pluginsDirectory = pluginsDirectory
        problems = ManifestLinter.lint(
            files: manifests, pluginsDirectory: nil,
            calls: CallSearch([root, pluginsDirectory], mustExist: !Self.isBuilt(names)))
        // Without valid manifests, the names of the libraries are unknown, so the plan builds nothing.
        build =
            problems.contains { $0.severity == .error }
            ? .nothing
            : try Self.build(names, Self.products(libraries, callLibraries, pluginsDirectory), in: root)
        if build == .package, let report = try? SourceLinter.lint(sources: root, manifests: manifests) {
            problems += report.problems
        }
    }

    /// The libraries that calls name and that the dynamic loader does not find.
    private static func callLibraries(of manifests: [Manifest]) -> Set<String> {
        var names: Set<String> = []
        for call in manifests.flatMap(\.tasks).compactMap(\.call) {
            names.insert(call.library)
            names.formUnion(call.invocations.compactMap(\.library))
        }
        let directories = LoaderPaths.directories()
        return names.filter { LoaderPaths.find($0, in: directories) == nil }
    }

    /// The libraries that a build must create.
    ///
    /// A library of a call need not be created if it is installed already.
    private static func products(
        _ libraries: [String], _ callLibraries: [String], _ pluginsDirectory: String
    ) -> [String] {
        libraries + callLibraries.filter { LoaderPaths.find($0, in: [pluginsDirectory]) == nil }
    }

    /// Whether a directory has anything to build.
    private static func isBuilt(_ names: [String]) -> Bool {
        names.contains {
            ["Package.swift", "Makefile", "makefile", "GNUmakefile", "Cargo.toml"].contains($0)
                || isSource($0)
        }
    }

    /// Whether a file is one that the C or C++ compiler builds.
    private static func isSource(_ name: String) -> Bool { name.hasSuffix(".c") || isCPlusPlus(name) }

    /// Whether a file has one of the endings of C++.
    static func isCPlusPlus(_ name: String) -> Bool {
        [".cpp", ".cc", ".cxx"].contains { name.hasSuffix($0) }
    }

    private static func build(_ names: [String], _ libraries: [String], in directory: String)
        throws(AuthoringError) -> Build
    {
        if names.contains("Package.swift") { return .package }
        if names.contains("Makefile") || names.contains("makefile") || names.contains("GNUmakefile") {
            return .makefile
        }
        if names.contains("Cargo.toml") { return .crate }
        let sources = names.filter(isSource)
        guard !sources.isEmpty else { return .nothing }
        guard Set(sources.map(isCPlusPlus)).count == 1 else {
            throw AuthoringError(
                directory, "it has files in C and in C++, which need two compilers",
                "Write a Makefile that builds them")
        }
        guard libraries.count == 1, let library = libraries.first else {
            throw AuthoringError(
                directory,
                "its source files make one library, but the manifests name "
                    + (libraries.isEmpty ? "none" : "\(libraries.count)"),
                libraries.isEmpty
                    ? "Name the library in the manifest, for example: library: libNAME.so"
                    : "Write a Makefile that builds them")
        }
        return .compiler(sources: sources.map { "\(directory)/\($0)" }, library: library)
    }

    private static func isManifest(_ name: String) -> Bool {
        !name.hasPrefix(".") && (name.hasSuffix(".yaml") || name.hasSuffix(".yml"))
    }
}
