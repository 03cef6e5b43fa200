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
        /// With the C compiler, from all C files of the directory into one library.
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
    /// The names of the libraries that the manifests use, sorted.
    public var libraries: [String]
    /// The problems that `bgtask lint` finds in the manifests and in the sources of a package.
    public var problems: [ManifestProblem]

    /// Whether a manifest has an error, so that the plugin can't run.
    public var hasErrors: Bool {
        problems.contains { $0.severity == .error && manifests.contains($0.file) }
    }

    /// Reads a plugin's directory and checks its manifests.
    ///
    /// - Throws: ``AuthoringError`` if the directory has no manifest, or if it is not clear how to build it.
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
        // Without valid manifests, the names of the libraries are unknown, so the plan builds nothing.
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
