import LinuxSystem
import StrictFiles
public import TaskModel

/// One configuration file as it was read: its values with their places, and what is wrong with it.
public struct SettingsFile: Sendable {
    /// One value.
    struct Entry: Sendable {
        var key: SettingKey
        var text: String
        var place: Place
    }

    /// The file.
    public let path: String
    let entries: [Entry]
    /// Everything that was found, warnings included; with an error among it, no value of the file is used.
    public let problems: [ManifestProblem]

    /// Whether the file may be used.
    public var isRight: Bool { !problems.contains { $0.severity == .error } }

    /// Reads a file strictly: what is not known, is of another type or lies outside its range is an error
    /// with its place.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - mayRestrict: Whether a switch in it may be `restricted`, which only the vendor and the
    ///     administrator may say.
    ///   - isInForce: Whether a host is to obey it, so that it matters who may write there.
    /// - Returns: The file; one that can't be read has a problem and no values.
    public static func read(_ path: String, mayRestrict: Bool, isInForce: Bool) -> SettingsFile {
        let bytes: [UInt8]
        do {
            if isInForce, let problem = try FileTrust.problem(with: path, called: "the configuration") {
                return unreadable(path, problem.finding, problem.remedy)
            }
            bytes = try FileContents.read(path, limit: YAMLDocument.maximumSize)
        } catch {
            return unreadable(path, "\(error)", "Give a readable file")
        }
        return read(bytes, path: path, mayRestrict: mayRestrict)
    }

    /// Reads a file's bytes.
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
    /// Configuration files, as messages speak of them; one whose every line is a comment is right.
    static let configuration = FileKind(
        plural: "Configuration files", whenEmpty: nil, whenLarge: "Split it into several files of conf.d")
}
