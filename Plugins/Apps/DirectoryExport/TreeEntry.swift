import Foundation

/// A file, directory or link that an archive can hold.
struct TreeEntry: Sendable {
    enum Kind: Sendable {
        case file
        case directory
        case link(to: String)

        static func == (left: Kind, right: Kind) -> Bool {
            switch (left, right) {
            case (.file, .file), (.directory, .directory): true
            default: false
            }
        }
    }

    /// The path from the root of the tree, without a slash at either end.
    var path: String
    var kind: Kind
    /// The size in bytes; 0 unless the entry is a file.
    var size: Int64
    var permissions: Int
    var modified: Date

    /// All files, directories and links below a directory, sorted by path.
    static func all(in root: URL) throws -> [TreeEntry] {
        guard let walk = FileManager.default.enumerator(atPath: root.path) else {
            throw ExportProblem(description: "\(root.path): not a directory that can be read")
        }
        var entries: [TreeEntry] = []
        for case let path as String in walk {
            let full = root.appendingPathComponent(path).path
            let facts = try FileManager.default.attributesOfItem(atPath: full)
            var entry = TreeEntry(
                path: path, kind: .directory, size: 0,
                permissions: (facts[.posixPermissions] as? NSNumber)?.intValue ?? 0o644,
                modified: facts[.modificationDate] as? Date ?? .distantPast)
            switch facts[.type] as? FileAttributeType {
            case .typeDirectory?:
                break
            case .typeRegular?:
                entry.kind = .file
                entry.size = (facts[.size] as? NSNumber)?.int64Value ?? 0
            case .typeSymbolicLink?:
                entry.kind = .link(to: try FileManager.default.destinationOfSymbolicLink(atPath: full))
            default:
                continue
            }
            entries.append(entry)
        }
        return entries.sorted { $0.path < $1.path }
    }
}
