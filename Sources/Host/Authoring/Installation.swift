import LinuxSystem

/// Where the project's files are that plugins are built with: next to the running program, installed or just
/// built.
public struct Installation: Sendable {
    /// The directory of the running program, which contains bgtaskd.
    public let programs: String
    /// The checkout that the program was built in; `nil` for an installed one.
    private let checkout: String?

    /// Looks where the running program is.
    ///
    /// - Throws: ``AuthoringError`` if /proc does not show it.
    public init() throws(AuthoringError) {
        do {
            programs = try ProcessFacts.executableDirectory()
        } catch {
            throw AuthoringError("/proc/self/exe", "\(error)", "Mount /proc")
        }
        var directory = Substring(programs)
        var found: String?
        while found == nil, let slash = directory.lastIndex(of: "/") {
            directory = directory[..<slash]
            if !DirectoryTree.isMissing("\(directory)/Sources/SDK/CHandlerABI/include/bgtask.h") {
                found = String(directory)
            }
        }
        checkout = found
    }

    /// The directory of `bgtask.h`.
    ///
    /// - Throws: ``AuthoringError`` that names where it was looked for.
    public func headers() throws(AuthoringError) -> String {
        try first(
            of: ["\(programs)/../include"] + inCheckout("Sources/SDK/CHandlerABI/include"), with: "bgtask.h",
            "Install it: make install")
    }

    /// The directory of the Swift package that plugins depend on.
    ///
    /// - Parameter given: What the user said; `nil` takes `$BGTASK_SDK`, then what is installed next to the
    ///   program, then the checkout's.
    /// - Returns: An absolute path.
    /// - Throws: ``AuthoringError`` that names where it was looked for.
    public func sdk(given: String?) throws(AuthoringError) -> String {
        let said = given ?? ProcessFacts.environment("BGTASK_SDK")
        return try first(
            of: said.map { [$0] } ?? ["\(programs)/../share/bgtask/SDK"] + inCheckout("Sources/SDK"),
            with: "Package.swift", "Give the directory of the SDK: --sdk DIRECTORY, or BGTASK_SDK")
    }

    /// A program next to the running one.
    ///
    /// - Throws: ``AuthoringError`` if it is not there.
    public func program(_ name: String) throws(AuthoringError) -> String {
        let path = "\(programs)/\(name)"
        guard ProcessFacts.isExecutable(path) else {
            throw AuthoringError(
                path, "it does not exist",
                "Build or install it next to bgtask: swift build --product \(name), or make install")
        }
        return path
    }

    private func inCheckout(_ path: String) -> [String] { checkout.map { ["\($0)/\(path)"] } ?? [] }

    private func first(of directories: [String], with name: String, _ remedy: String) throws(AuthoringError)
        -> String
    {
        for directory in directories where !DirectoryTree.isMissing("\(directory)/\(name)") {
            if let path = try? DirectoryTree.realPath(of: directory) { return path }
        }
        throw AuthoringError(name, "it is not in \(directories.joined(separator: ", nor in "))", remedy)
    }
}
