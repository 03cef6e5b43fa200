/// A valid manifest with the host's copy of its library, if it names one.
public struct PermittedHandler: Equatable, Sendable {
    /// The path of the manifest.
    public var manifestPath: String
    /// The contents of the manifest.
    public var manifest: Manifest
    /// The absolute real path of the host's own copy of the library; `nil` if the manifest names none.
    public var libraryPath: String?
    /// The SHA-256 of the library and its siblings, in hexadecimal; `nil` if there is no library.
    public var libraryHash: String?
    /// The grants of the manifest that open directories of the host itself.
    public var hostGrants: [HostGrant] = []

    /// Why the host launches nothing of this manifest, and what to do; `nil` if it does.
    public func refusal(
        by isolation: IsolationReport, isRequired: Bool
    ) -> (finding: String, remedy: String)? {
        hostGrants.first(where: \.isWrite)?.refusal
            ?? manifest.sandbox.refusal(by: isolation, isRequired: isRequired)
    }

    /// Whether the host can start a process for the task; otherwise, only a client that registered for it can
    /// run it.
    public func canLaunch(_ identifier: TaskIdentifier) -> Bool {
        libraryPath != nil || manifest.declaration(for: identifier)?.hasOwnProgram == true
    }

    /// The hashes of all copies that the tasks load: of the library, and of the libraries that `call:`
    /// programs name.
    public var libraryCopies: Set<String> {
        var copies = Set([libraryHash].compactMap(\.self))
        for program in manifest.tasks.compactMap(\.call) {
            for path in [program.library] + program.invocations.compactMap(\.library) {
                // Such a path ends in libraries/HASH/libFoo.so, where HASH is a SHA-256 of 64 digits.
                let parts = path.split(separator: "/")
                if parts.count > 1, parts[parts.count - 2].utf8.count == 64 {
                    copies.insert(String(parts[parts.count - 2]))
                }
            }
        }
        return copies
    }

    public init(manifestPath: String, manifest: Manifest, libraryPath: String?, libraryHash: String?) {
        self.manifestPath = manifestPath
        self.manifest = manifest
        self.libraryPath = libraryPath
        self.libraryHash = libraryHash
    }
}

/// An error or a warning about a manifest or a library, with its place in the file.
public struct ManifestProblem: Error, Equatable, Hashable, Sendable, CustomStringConvertible {
    /// How serious a problem is.
    public enum Severity: String, Sendable, Codable {
        /// The host does not use the manifest.
        case error
        /// The host uses the manifest, but its author should check it.
        case warning
        /// The host uses the manifest, and something about it could not be checked.
        case note
    }

    /// How serious the problem is.
    public var severity: Severity
    /// The path of the file.
    public var file: String
    /// The line, counted from 1; `nil` if the problem is about the whole file.
    public var line: Int?
    /// The column, counted from 1; `nil` if the problem is about the whole line.
    public var column: Int?
    /// What is wrong, in words.
    public var finding: String
    /// What to do; `nil` if the finding makes that clear.
    public var remedy: String?

    public init(
        severity: Severity = .error, file: String, line: Int? = nil, column: Int? = nil, finding: String,
        remedy: String? = nil
    ) {
        self.severity = severity
        self.file = file
        self.line = line
        self.column = column
        self.finding = finding
        self.remedy = remedy
    }

    /// The problem in one line, such as `photos.yaml:4:7: error: unknown key 'kindd'. Did you mean 'kind'?`.
    public var description: String {
        let place = [file] + [line, column].compactMap { $0.map(String.init) }
        let tail = remedy.map { ". \($0)" } ?? ""
        return "\(place.joined(separator: ":")): \(severity.rawValue): \(finding)\(tail)"
    }
}
