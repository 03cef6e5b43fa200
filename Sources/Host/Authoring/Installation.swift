import LinuxSystem

/// Finds the files of this project that building a plugin needs: the headers, the SDK and the other programs.
///
/// They are either installed beside the running program or in the checkout that the program was built in.
public struct Installation: Sendable {
    /// The directory of the running program, which contains bgtaskd.
    public let programs: String
    /// The checkout that contains ``programs``; `nil` if the program is installed.
    private let checkout: String?

    /// Finds the directory of the running program, and the checkout that contains it.
    ///
    /// - Throws: ``AuthoringError`` if /proc/self/exe can't be read.
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
    /// - Throws: ``AuthoringError`` that lists the directories that were searched.
    public func headers() throws(AuthoringError) -> String {
        try first(
            of: ["\(programs)/../include"] + inCheckout("Sources/SDK/CHandlerABI/include"), with: "bgtask.h",
            "Install it: make install")
    }

    /// Copies of the headers for a plugin's directory `include`.
    ///
    /// - Throws: ``AuthoringError`` if one is not found, or can't be read.
    func headerFiles() throws(AuthoringError) -> [TemplateFile] {
        let directory = try headers()
        var files: [TemplateFile] = []
        for name in ["bgtask.h", "bgtask_json.h"] {
            let path = "\(directory)/\(name)"
            do {
                let text = String(decoding: try FileContents.read(path, limit: 1 << 20), as: UTF8.self)
                files.append(TemplateFile(path: "include/\(name)", text: text))
            } catch {
                throw AuthoringError(path, "\(error)", "Make it readable")
            }
        }
        return files
    }

    /// The directory of the Swift package that plugins depend on.
    ///
    /// - Parameter given: The user's `--sdk`; if it is `nil`, `$BGTASK_SDK` is used. If neither is set, the
    ///   method tries the SDK that is installed beside the program, and then the checkout's.
    /// - Returns: An absolute path.
    /// - Throws: ``AuthoringError`` that lists the directories that were searched.
    public func sdk(given: String?) throws(AuthoringError) -> String {
        let said = given ?? ProcessFacts.environment("BGTASK_SDK")
        return try first(
            // Of a checkout of this project, which has a package of its own, the SDK is a part.
            of: said.map { ["\($0)/Sources/SDK", $0] } ?? ["\(programs)/../share/bgtask/SDK"]
                + inCheckout("Sources/SDK"),
            with: "Package.swift", "Give the directory of the SDK: --sdk DIRECTORY, or BGTASK_SDK")
    }

    /// The path of another program in the running program's directory.
    ///
    /// - Throws: ``AuthoringError`` if there is no executable file of this name.
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
