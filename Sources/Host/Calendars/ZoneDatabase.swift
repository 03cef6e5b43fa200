import FoundationEssentials

/// Why a time zone can't be used on this machine.
public struct ZoneError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The problem.
    public let finding: String
    /// What to do.
    public let remedy: String
    /// Whether the problem is that the database has no zone of this name.
    public let isUnknownName: Bool

    /// The finding and the remedy.
    public var description: String { "\(finding). \(remedy)" }
}

/// The machine's time zones: the zone database, and the machine's own zone.
///
/// Nothing is cached. Each call reads the files (a few KiB), so a changed zone or database takes effect at
/// once.
public struct ZoneDatabase: Sendable {
    private let directory: String
    private let localPath: String
    private let variable: String?

    /// The database of this machine.
    public static var machine: Self { machine(variable: ProcessInfo.processInfo.environment["TZ"]) }

    /// The database of this machine for a user with another value of `TZ`; `nil` if it is not set.
    public static func machine(variable: String?) -> Self {
        Self(directory: "/usr/share/zoneinfo", localPath: "/etc/localtime", variable: variable)
    }

    /// Creates a database from files other than the machine's; reads nothing yet.
    ///
    /// - Parameters:
    ///   - directory: The root of the zones' files.
    ///   - localPath: The file or link that is the machine's zone; if it is missing, the zone is UTC.
    ///   - variable: The value of `TZ`, which takes precedence over `localPath`; `nil` if it is not set.
    public init(directory: String, localPath: String, variable: String?) {
        self.directory = directory
        self.localPath = localPath
        self.variable = variable
    }

    /// The rules of the zone with this name; `nil` means the machine's own zone.
    ///
    /// - Throws: ``ZoneError`` if the name is unknown, the database is missing or a file is damaged.
    public func zone(named name: String?) throws(ZoneError) -> ZoneRules {
        guard let name else { return try local() }
        if ["UTC", "Etc/UTC"].contains(name) { return .utc }
        guard isDatabaseThere else {
            throw ZoneError(
                finding: "the time zone '\(name.prefix(60))' can't be looked up: \(directory) is missing",
                remedy: "Install the time zone database (Debian: apt-get install tzdata), or use UTC",
                isUnknownName: false)
        }
        guard Self.isName(name), let bytes = contents("\(directory)/\(name)") else {
            throw ZoneError(
                finding: "the time zone '\(name.prefix(60))' is unknown",
                remedy: "Use a name from the time zone database, such as Europe/Berlin, or UTC",
                isUnknownName: true)
        }
        return try read(bytes, name: name, path: "\(directory)/\(name)")
    }

    /// The names of the zones in the database; empty if there is no database.
    public var names: [String] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? []
        return paths.filter { path in
            var isDirectory = false
            return path.first?.isUppercase == true && !path.contains(".")
                && FileManager.default.fileExists(atPath: "\(directory)/\(path)", isDirectory: &isDirectory)
                && !isDirectory
        }.sorted()
    }

    private var isDatabaseThere: Bool { FileManager.default.fileExists(atPath: directory) }

    /// The rules that `TZ` names, otherwise those of the machine's file, otherwise UTC, as in the C library.
    private func local() throws(ZoneError) -> ZoneRules {
        if let variable {
            let text = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
            if text.isEmpty { return .utc }
            if Self.isName(text), contents("\(directory)/\(text)") != nil { return try zone(named: text) }
            if let rule = PosixRule(text) {
                return ZoneRules(name: text, initial: rule.standard, transitions: [], rule: rule)
            }
            if text.hasPrefix("/"), let bytes = contents(text) {
                return try read(bytes, name: text, path: text)
            }
            return .utc
        }
        guard let bytes = contents(localPath) else { return .utc }
        return try read(bytes, name: localName ?? "local", path: localPath)
    }

    /// The name of the machine's zone: the part of the link's target after `zoneinfo/`; `nil` if there is
    /// none.
    private var localName: String? {
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: localPath),
            let range = target.firstRange(of: "zoneinfo/")
        else { return nil }
        return String(target[range.upperBound...])
    }

    private func read(_ bytes: [UInt8], name: String, path: String) throws(ZoneError) -> ZoneRules {
        do {
            return try ZoneFile.read(bytes, name: name)
        } catch {
            throw ZoneError(
                finding: "\(path) can't be used as a time zone: \(error.finding)",
                remedy: "Use another zone, or reinstall the time zone database", isUnknownName: false)
        }
    }

    private func contents(_ path: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path).map { Array($0) }
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 100 && !text.hasPrefix("/") && !text.contains("..")
            && text.utf8.allSatisfy { byte in
                byte < 0x80
                    && (Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber
                        || "_+-/".utf8.contains(byte))
            }
    }
}
