import LinuxSystem
import StrictFiles
public import TaskModel

/// The contents of one configuration file: its values with their positions, and its problems.
public struct SettingsFile: Sendable {
    /// One value in the file.
    struct Entry: Sendable {
        var key: SettingKey
        var text: String
        var place: Place
    }

    /// The path of the file.
    public let path: String
    let entries: [Entry]
    /// All problems, warnings included; if one of them is an error, no value of the file is used.
    public let problems: [ManifestProblem]

    /// Whether the file has no errors, so that its values are used.
    public var isRight: Bool { !problems.contains { $0.severity == .error } }

    /// Reads and checks a file.
    ///
    /// Unknown keys, values of the wrong type and values out of range are errors, with their positions.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - mayRestrict: Whether the file may set a refresh switch to `restricted`; only files of the vendor
    ///     and the administrator may.
    ///   - isInForce: Whether a host uses the file. Then its owner and permissions are checked too, because
    ///     other users must not be able to change it.
    /// - Returns: The contents; if the file can't be read, a problem and no values.
    public static func read(_ path: String, mayRestrict: Bool, isInForce: Bool) -> SettingsFile {
        let bytes: [UInt8]
        do {
            if isInForce, let problem = try FileTrust.problem(with: path, called: "the configuration") {
                return unreadable(path, problem.finding, problem.remedy)
            }
            bytes = try FileContents.read(path, limit: YAMLDocument.maximumSize)
        } catch {
            return unreadable(
                path,
                FileContents.otherKind(at: path).map { "it is \($0), and not a regular file" } ?? "\(error)",
                isInForce
                    ? "Put a regular file there that the host's user can read, or remove it"
                    : "Give the path of a file that you can read")
        }
        return read(bytes, path: path, mayRestrict: mayRestrict)
    }

    /// Parses and checks the bytes of a file.
    static func read(_ bytes: [UInt8], path: String, mayRestrict: Bool) -> SettingsFile {
        let problems = ProblemList(file: path, kind: .configuration)
        var entries: [Entry] = []
        if let root = YAMLDocument.parse(bytes, problems: problems) {
            entries = SettingsReader(mayRestrict: mayRestrict, problems: problems).entries(root)
        }
        return SettingsFile(
            path: path, entries: problems.hasErrors ? [] : entries, problems: problems.sorted)
    }

    private static func unreadable(_ path: String, _ finding: String, _ remedy: String) -> SettingsFile {
        SettingsFile(
            path: path, entries: [],
            problems: [ManifestProblem(file: path, finding: finding, remedy: remedy)])
    }
}

extension FileKind {
    /// The words for configuration files in messages.
    ///
    /// An empty file, or one that contains only comments, is valid.
    static let configuration = FileKind(
        plural: "Configuration files", whenEmpty: nil, whenLarge: "Split it into several files of conf.d")
}
