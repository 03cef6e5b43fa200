import LinuxSystem
public import TaskModel

/// The files of a new plugin, which `bgtask new` writes.
public struct NewPlugin: Sendable {
    private static let longestName = 60
    /// Names of Swift packages that would hide a module or type that the plugin needs.
    private static let taken: Set = [
        "swift", "foundation", "dispatch", "backgroundtasks", "backgroundtaskstesting", "swiftui", "uikit",
        "os",
        "oslog", "task", "string", "testing", "xctest", "sdk", "chandlerabi", "bgtask",
    ]

    /// The directory to which the files are written.
    public let directory: String
    /// The commands to run next, one per line.
    public let nextSteps: [String]

    private let files: [TemplateFile]

    /// Checks the names and finds the SDK or headers; nothing is written yet.
    ///
    /// - Parameters:
    ///   - template: The language or form of the plugin.
    ///   - name: The name of the plugin and its library, at most 60 bytes: letters, digits, `_` and, except
    ///     in Swift, `-`.
    ///   - directory: Where to write the files; `nil` means a directory with the plugin's name.
    ///   - bundle: The identifier of the bundle; `nil` means `org.example.NAME`.
    ///   - sdk: The directory of the Swift package that the plugin depends on; `nil` searches for it.
    ///   - draft: The call of the template `call`; `nil` means one of libc.
    /// - Throws: ``AuthoringError`` if the name is not valid, or if the SDK or header is not found.
    public init(
        _ template: PluginTemplate, name: String, directory: String?, bundle: BundleIdentifier?, sdk: String?,
        draft: CallDraft? = nil
    ) throws(AuthoringError) {
        try Self.check(name, template)
        let installation = try Installation()
        let path = directory ?? name
        let label = name.lowercased().map { $0 == "_" ? "-" : String($0) }.joined()
        let names = TemplateNames(
            name: name, bundle: bundle?.rawValue ?? "org.example.\(label)",
            bgtask: "\(installation.programs)/bgtask")
        self.directory = path
        switch template {
        case .c:
            files = names.cFiles(headers: try installation.headerFiles())
        case .cpp:
            files = names.cppFiles(headers: try installation.headerFiles())
        case .rust:
            files = names.rustFiles
        case .python:
            files = names.pythonFiles(in: try Self.absolute(path))
        case .call:
            files = names.callFiles(draft)
        case .command:
            files = names.commandFiles
        case .swift:
            files = names.swiftFiles(sdk: try installation.sdk(given: sdk))
        }
        nextSteps =
            template == .swift
            ? ["cd \(path)", "swift test", "bgtask dev"] : ["cd \(path)", "make test", "bgtask dev"]
    }

    /// Writes the files; if one of them exists already, it writes none.
    ///
    /// - Returns: The paths of the files.
    /// - Throws: ``AuthoringError`` with the path of the file that exists or can't be written.
    public func write() throws(AuthoringError) -> [String] {
        let paths = files.map { directory + "/" + $0.path }
        for path in paths where !DirectoryTree.isMissing(path) {
            throw AuthoringError(
                path, "it already exists; nothing was written",
                "Give another name, or another directory: --directory DIR")
        }
        for (file, path) in zip(files, paths) {
            do {
                if let slash = path.lastIndex(of: "/") {
                    try DirectoryTree.make(String(path[..<slash]), mode: 0o755)
                }
                try FileContents.create(path, Array(file.text.utf8), mode: 0o644)
            } catch {
                throw AuthoringError(
                    path, "\(error)", "Give a directory that you may write to: --directory DIR")
            }
        }
        return paths
    }

    /// The path of a directory that may not exist yet, from the root.
    private static func absolute(_ path: String) throws(AuthoringError) -> String {
        if path.hasPrefix("/") { return path }
        do {
            return try DirectoryTree.realPath(of: ".") + "/" + path
        } catch {
            throw AuthoringError(path, "\(error)", "Give an absolute path: --directory DIR")
        }
    }

    private static func check(_ name: String, _ template: PluginTemplate) throws(AuthoringError) {
        let subject = "the name '\(name)'"
        guard let first = name.first, first.isASCII, first.isLetter else {
            throw AuthoringError(subject, "it does not begin with a letter", "Begin it with one of A-Z a-z")
        }
        let others = template == .swift ? "_" : "_-"
        if let odd = name.first(where: { !$0.isASCII || !($0.isLetter || $0.isNumber || others.contains($0)) }
        ) {
            throw AuthoringError(
                subject, "it contains the character '\(odd)'",
                template == .swift
                    ? "The name of a Swift module uses A-Z a-z 0-9 and _" : "Use A-Z a-z 0-9 _ and -")
        }
        guard name.utf8.count <= longestName else {
            throw AuthoringError(
                subject, "it has \(name.utf8.count) bytes", "Use at most \(longestName)")
        }
        guard template != .swift || !taken.contains(name.lowercased()) else {
            throw AuthoringError(
                subject, "it would hide a module or type that the plugin needs", "Use another name")
        }
    }
}
