import CHandlerABI
import Foundation

/// A file of the folder, with its attributes at the time of the listing.
struct FeedFile {
    let name: String
    let size: Int
    /// The time of the last change, in milliseconds since 1970.
    let modified: Int
}

/// The results of a refresh.
struct Summary: CustomStringConvertible {
    var read = 0
    var unchanged = 0
    var new = 0
    var failures = 0

    var description: String {
        "\(read) feeds read, \(unchanged) unchanged, \(failures) refused, \(new) new entries"
    }
}

/// One pass over the folder.
struct Refresh {
    let folder: String
    let digest: Digest
    let task: RunningTask

    /// The largest accepted feed, in bytes: the parser's memory grows with it.
    private static let largest = 16 << 20

    /// Stores every new or changed file; returns `nil` if the host asked the task to stop before the end.
    func run() throws -> Summary? {
        if !FileManager.default.fileExists(atPath: folder) {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            task.log(BGTASK_LOG_NOTICE, "there are no feeds yet; put RSS or Atom files into \(folder)")
        }
        let files = try list()
        var summary = Summary()
        for (index, file) in files.enumerated() {
            guard !task.isExpired else { return nil }
            do {
                if try digest.holds(file) {
                    summary.unchanged += 1
                } else {
                    let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file.name))
                    summary.new += try digest.store(try FeedParser.read(data), of: file)
                    summary.read += 1
                }
            } catch let error as FeedError {
                summary.failures += 1
                task.log(BGTASK_LOG_WARNING, "\(file.name): \(error)")
            }
            task.report(index + 1, of: files.count, "\(file.name): \(summary.new) new entries")
        }
        return summary
    }

    private func list() throws -> [FeedFile] {
        let endings = [".rss", ".atom", ".xml"]
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().compactMap { name in
            guard endings.contains(where: name.hasSuffix) else { return nil }
            let facts = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
            guard facts[.type] as? FileAttributeType == .typeRegular, let size = facts[.size] as? Int,
                let modified = facts[.modificationDate] as? Date
            else { return nil }
            guard size <= Self.largest else {
                task.log(BGTASK_LOG_WARNING, "\(name): \(size) bytes, more than \(Self.largest); left out")
                return nil
            }
            return FeedFile(name: name, size: size, modified: Int(modified.timeIntervalSince1970 * 1000))
        }
    }
}
