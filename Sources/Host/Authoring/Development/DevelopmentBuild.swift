import LinuxSystem

/// Builds the libraries of a plan, and finds the files that the build made.
public struct DevelopmentBuild: Sendable {
    /// How many levels of subdirectories are searched for the libraries that a Makefile built.
    private static let deepest = 3

    private let plan: DevelopmentPlan
    private let folder: DevelopmentFolder
    private let output: String?

    /// Prepares a build; nothing runs yet.
    ///
    /// - Parameters:
    ///   - plan: The plugin to build.
    ///   - folder: The directory for the library, if the plan uses the C compiler directly.
    ///   - output: The destination of the build's messages; see ``LeashedProgram``.
    public init(_ plan: DevelopmentPlan, _ folder: DevelopmentFolder, output: String?) {
        self.plan = plan
        self.folder = folder
        self.output = output
    }

    /// The command that the build runs, with its arguments; `nil` if there is nothing to build.
    ///
    /// - Throws: ``AuthoringError`` if the plan needs `bgtask.h` and it is not found.
    public func command() throws(AuthoringError) -> [String]? {
        switch plan.build {
        case .package: return ["swift", "build"]
        case .makefile: return ["make"]
        case .crate: return ["cargo", "build"]
        case .nothing: return nil
        case .compiler(let sources, let library):
            let headers = try Installation().headers()
            let isCPlusPlus = sources.contains(where: DevelopmentPlan.isCPlusPlus)
            let compiler =
                isCPlusPlus
                ? [ProcessFacts.environment("CXX") ?? "c++", "-std=c++17"]
                : [ProcessFacts.environment("CC") ?? "cc", "-std=c17", "-D_GNU_SOURCE"]
            return compiler + [
                "-O1", "-g", "-Wall", "-Wextra", "-shared", "-fPIC",
                "-fvisibility=hidden", "-pthread", "-I", headers, "-o", "\(folder.path)/\(library)",
            ] + sources
        }
    }

    /// Runs the build.
    ///
    /// - Returns: The paths of the libraries that the manifests name; empty if there is nothing to build.
    /// - Throws: ``AuthoringError`` if the build fails, or if it does not make one of these libraries.
    public func run() async throws -> [String] {
        guard let command = try command() else {
            // Manifests that only call installed libraries need no build. If a library is missing, the host
            // reports it.
            return (plan.libraries + plan.callLibraries).compactMap { place(of: $0, in: plan.directory) }
        }
        let program = try LeashedProgram(command, in: plan.directory, output: output)
        let status = await program.ended()
        guard status == 0 else {
            let finding =
                status == 127
                ? "the program '\(command[0])' was not found" : "the build ended with status \(status)"
            throw AuthoringError(
                plan.directory, finding,
                status == 127 ? "Install the program" : "Fix the errors that \(command[0]) reports above")
        }
        let directory = try await products()
        var paths: [String] = []
        for library in plan.libraries {
            guard let path = find(library, in: directory, depth: 0) else {
                throw AuthoringError(
                    library, "a manifest names it, but the build did not create it in \(directory)", remedy)
            }
            paths.append(path)
        }
        for library in plan.callLibraries {
            guard let path = place(of: library, in: directory) else {
                throw AuthoringError(
                    library,
                    "a manifest calls it, but the build did not create it in \(directory), and it is not in \(plan.pluginsDirectory)",
                    remedy)
            }
            paths.append(path)
        }
        return paths
    }

    /// The path of a library: in the build's products, or else in the host's plugins directory.
    private func place(of library: String, in directory: String) -> String? {
        find(library, in: directory, depth: 0) ?? LoaderPaths.find(library, in: [plan.pluginsDirectory])
    }

    private var remedy: String {
        switch plan.build {
        case .package:
            "Name the product like the library, without 'lib' and '.so': .library(name: ..., type: .dynamic, ...)"
        case .makefile: "Make the Makefile's first target build it"
        case .crate: "Give Cargo.toml the crate-type cdylib, and the package the library's name, with _ for -"
        case .compiler, .nothing: "Check the manifest's 'library'"
        }
    }

    /// The directory to which the build writes its libraries.
    private func products() async throws -> String {
        switch plan.build {
        case .makefile, .nothing: return plan.directory
        case .crate: return plan.directory + "/target/debug"
        case .compiler: return folder.path
        case .package:
            let file = folder.path + "/bin-path"
            try? DirectoryTree.remove(file)
            let program = try LeashedProgram(
                ["swift", "build", "--show-bin-path"], in: plan.directory, output: file)
            _ = await program.ended()
            let text = String(decoding: (try? FileContents.read(file, limit: 1 << 16)) ?? [], as: UTF8.self)
            guard let path = text.split(separator: "\n").last(where: { $0.hasPrefix("/") }) else {
                throw AuthoringError(
                    plan.directory, "'swift build' does not report where it builds: \(text)",
                    "Run this command in the directory, and correct what it reports: swift build --show-bin-path"
                )
            }
            return String(path)
        }
    }

    private func find(_ library: String, in directory: String, depth: Int) -> String? {
        guard let names = try? DirectoryTree.names(in: directory) else { return nil }
        if names.contains(library) { return "\(directory)/\(library)" }
        guard depth < Self.deepest, plan.build == .makefile else { return nil }
        for name in names where !name.hasPrefix(".") && DirectoryTree.isDirectory("\(directory)/\(name)") {
            if let path = find(library, in: "\(directory)/\(name)", depth: depth + 1) { return path }
        }
        return nil
    }
}
