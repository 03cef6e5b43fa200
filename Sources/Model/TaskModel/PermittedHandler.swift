/// A manifest whose library was found and copied: what the host can launch.
public struct PermittedHandler: Equatable, Sendable {
    /// The manifest's file.
    public var manifestPath: String
    /// The contents of the manifest.
    public var manifest: Manifest
    /// The host-owned copy of the library, an absolute real path; `nil` where every task has a `call:`.
    public var libraryPath: String?
    /// SHA-256 of the library and its siblings, in hexadecimal; `nil` where there is none.
    public var libraryHash: String?

    /// Whether the host can start a process for a task; else only a client that registered for it can run it.
    public func canLaunch(_ identifier: TaskIdentifier) -> Bool {
        libraryPath != nil || manifest.declaration(for: identifier)?.call != nil
    }

    /// The hashes of all host-owned copies that its tasks load: of its library, and of those that its calls
    /// name.
    public var libraryCopies: Set<String> {
        var copies = Set([libraryHash].compactMap(\.self))
        for program in manifest.tasks.compactMap(\.call) {
            for path in [program.library] + program.invocations.compactMap(\.library) {
                // .../libraries/HASH/libFoo.so
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

/// Something wrong with a manifest or a library, pointing at its place.
public struct ManifestProblem: Error, Equatable, Hashable, Sendable, CustomStringConvertible {
    /// How bad it is.
    public enum Severity: String, Sendable, Codable {
        /// The manifest is not used.
        case error
        /// It is used, but its author should check it.
        case warning
    }

    /// How bad it is.
    public var severity: Severity
    /// The file.
    public var file: String
    /// From 1; `nil` where the whole file is meant.
    public var line: Int?
    /// From 1; `nil` where the whole line is meant.
    public var column: Int?
    /// What was found.
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

    /// `photos.yaml:4:7: error: unknown key 'kindd'. Did you mean 'kind'?`.
    public var description: String {
        let place = [file] + [line, column].compactMap { $0.map(String.init) }
        let tail = remedy.map { ". \($0)" } ?? ""
        return "\(place.joined(separator: ":")): \(severity.rawValue): \(finding)\(tail)"
    }
}
