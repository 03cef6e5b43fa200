public import LinuxSystem
public import TaskModel

/// The secrets of bundles: one file for each bundle, which only the user of the host can read.
///
/// A file has one secret in each line, the newest first. The host accepts the signatures of all of them.
/// All functions can be called from any thread, but only one change may be made at a time.
public struct PushSecretFiles: Sendable {
    /// Why the secrets of a bundle could not be used.
    public struct Problem: Error, Equatable, Sendable, CustomStringConvertible {
        /// The path of the file.
        public let path: String
        /// What is wrong with it.
        public let finding: String
        /// What to do.
        public let remedy: String

        public var description: String { "\(path): \(finding). \(remedy)" }
    }

    /// The greatest size of a file, in bytes: room for a few secrets and for comments.
    private static let greatestSize = 4096
    /// The permissions of a file.
    private static let mode: UInt32 = 0o600

    private let directory: String

    /// Names the directory of the files, which need not exist yet.
    public init(directory: String) { self.directory = directory }

    /// The path of a bundle's file.
    public func path(of bundle: BundleIdentifier) -> String { "\(directory)/\(bundle)" }

    /// The secrets of a bundle, the newest first; empty if it has none.
    ///
    /// - Throws: ``Problem`` if the file can't be read, if other users could read or change it, or if a line
    ///   is not a secret.
    public func secrets(of bundle: BundleIdentifier) throws(Problem) -> [PushSecret] {
        let path = path(of: bundle)
        if DirectoryTree.isMissing(path) { return [] }
        try checkOwner(of: path)
        let bytes: [UInt8]
        do {
            bytes = try FileContents.read(path, atMost: Self.greatestSize)
        } catch {
            throw Problem(path: path, finding: "\(error)", remedy: "Make a new secret: bgtask push-secret")
        }
        var secrets: [PushSecret] = []
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
            guard let secret = PushSecret(line) else {
                throw Problem(
                    path: path, finding: "a line is not a secret",
                    remedy: "A secret is whsec_ and 24 to 64 bytes in base64. Make one: bgtask push-secret")
            }
            secrets.append(secret)
        }
        return secrets
    }

    /// Replaces the secrets of a bundle; the file is durable when the function returns.
    ///
    /// - Parameters:
    ///   - secrets: The new secrets, the newest first; empty removes the file.
    ///   - bundle: The bundle.
    /// - Throws: The system call that failed.
    public func set(_ secrets: [PushSecret], of bundle: BundleIdentifier) throws(SystemCallError) {
        let path = path(of: bundle)
        try DirectoryTree.make(directory)
        if secrets.isEmpty {
            if !DirectoryTree.isMissing(path) { try DirectoryTree.remove(path) }
            return try syncDirectory(directory)
        }
        let text = secrets.map { $0.text + "\n" }.joined()
        // No bundle has a name that begins with a dot.
        let draft = "\(directory)/.\(bundle)"
        if !DirectoryTree.isMissing(draft) { try DirectoryTree.remove(draft) }
        try FileContents.create(draft, Array(text.utf8), mode: Self.mode)
        _ = try DirectoryTree.rename(draft, to: path)
        try syncDirectory(directory)
    }

    private func checkOwner(of path: String) throws(Problem) {
        let step = try? PathWalk.Step.at(path)
        if let step, step.kind == .file, step.owner == PeerCredentials.ownUser, step.mode & 0o077 == 0 {
            return
        }
        throw Problem(
            path: path, finding: "other users could read or change it, or it is not a file",
            remedy: "Make it a file of the host's user: chmod 600 \(path)")
    }
}

extension PushSecretChange {
    /// The secrets after the change, the newest first; `nil` if the change is not possible.
    ///
    /// - Parameters:
    ///   - present: The present secrets, the newest first.
    ///   - make: Makes a new secret.
    /// - Returns: The secrets that the host accepts from now on.
    public func applied(to present: [PushSecret], make: () -> PushSecret = PushSecret.random)
        -> [PushSecret]?
    {
        switch self {
        case .create: present.isEmpty ? [make()] : nil
        case .rotate: present.isEmpty ? nil : [make()] + present.prefix(1)
        case .settle: present.isEmpty ? nil : Array(present.prefix(1))
        case .replace: [make()]
        case .remove: []
        }
    }
}
