import HandlerRegistry
import LinuxSystem
public import TaskModel

/// What a plugin's directory holds, and what is to be done with it.
public struct DevelopmentPlan: Equatable, Sendable {
    /// How its libraries are made.
    public enum Build: Equatable, Sendable {
        /// `Package.swift`: by `swift build`.
        case package
        /// `Makefile`: by `make`.
        case makefile
        /// C files: by the compiler, into this library.
        case compiler(sources: [String], library: String)
        /// Nothing is built: the manifests call installed libraries.
        case nothing
    }

    /// The plugin's directory, an absolute path.
    public var directory: String
    /// How it is built.
    public var build: Build
    /// The manifests, absolute paths.
    public var manifests: [String]
    /// The tasks of those that are right.
    public var tasks: [TaskDeclaration]
    /// The libraries that the manifests name.
    public var libraries: [String]
    /// The problems that lint finds in the manifests and in a package's sources.
    public var problems: [ManifestProblem]

    /// Whether a manifest can't be used.
    public var hasErrors: Bool {
        problems.contains { $0.severity == .error && manifests.contains($0.file) }
    }

    /// Looks into a directory.
    ///
    /// - Throws: ``AuthoringError`` that names what is missing.
    public init(_ path: String) throws(AuthoringError) {
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
        problems = ManifestLinter.lint(files: manifests, pluginsDirectory: nil)
        // The library of a manifest with errors is unknown, so the problems come first.
        build =
            problems.contains { $0.severity == .error }
            ? .nothing : try Self.build(names, libraries, in: root)
        if build == .package, let report = try? SourceLinter.lint(sources: root, manifests: manifests) {
            problems += report.problems
        }
    }

    private static func build(_ names: [String], _ libraries: [String], in directory: String)
        throws(AuthoringError) -> Build
    {
        if names.contains("Package.swift") { return .package }
        if names.contains("Makefile") || names.contains("makefile") || names.contains("GNUmakefile") {
            return .makefile
        }
        let sources = names.filter { $0.hasSuffix(".c") }
        guard !sources.isEmpty else { return .nothing }
        guard libraries.count == 1, let library = libraries.first else {
            throw AuthoringError(
                directory, "its C files make one library, but the manifests name \(libraries.count)",
                "Write a Makefile that builds \(libraries.isEmpty ? "it" : "them")")
        }
        return .compiler(sources: sources.map { "\(directory)/\($0)" }, library: library)
    }

    private static func isManifest(_ name: String) -> Bool {
        !name.hasPrefix(".") && (name.hasSuffix(".yaml") || name.hasSuffix(".yml"))
    }
}
