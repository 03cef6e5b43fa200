import FoundationEssentials
import LinuxSystem
public import TaskModel

/// The file with the registrations of UnifiedPush, which only the user of the host can read.
public struct RegistrationFile: Sendable {
    private let directory: String
    private var path: String { directory + "/push-registrations.json" }
    private static let greatestSize = 8 << 20

    /// Names the directory of the file: the state directory.
    public init(directory: String) { self.directory = directory }

    /// Reads the registrations; empty if there is no file.
    ///
    /// - Throws: The system call that failed, or what is wrong with the contents.
    public func read() throws -> [BundleIdentifier: PushRegistration] {
        if DirectoryTree.isMissing(path) { return [:] }
        let bytes = try FileContents.read(path, atMost: Self.greatestSize)
        let rows = try JSONDecoder().decode([String: PushRegistration].self, from: Data(bytes))
        return try Dictionary(uniqueKeysWithValues: rows.map { (try BundleIdentifier($0.key), $0.value) })
    }

    /// Writes the registrations; they are durable when the function returns.
    ///
    /// - Throws: The system call that failed.
    public func write(_ rows: [BundleIdentifier: PushRegistration]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        let texts = Dictionary(uniqueKeysWithValues: rows.map { ($0.key.rawValue, $0.value) })
        let draft = path + ".new"
        if !DirectoryTree.isMissing(draft) { try DirectoryTree.remove(draft) }
        try FileContents.create(draft, Array(try encoder.encode(texts)), mode: 0o600)
        _ = try DirectoryTree.rename(draft, to: path)
        try syncDirectory(directory)
    }
}
