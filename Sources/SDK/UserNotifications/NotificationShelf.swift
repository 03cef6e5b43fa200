import Foundation

/// The pending requests and the delivered notifications of an app, each in a file.
///
/// Several launches of a bundle may use the files at the same time. A pending request is delivered by the
/// process that removes its file, so each is delivered once.
struct NotificationShelf {
    /// One of the two lists.
    enum List: String { case pending, delivered }

    /// The directory of both lists; made when it is first needed.
    let directory: URL

    /// All notifications of a list, the oldest first; files that can't be read are left out.
    func all(_ list: List) -> [StoredNotification] {
        let folder = directory.appendingPathComponent(list.rawValue)
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".plist") }.compactMap { file -> StoredNotification? in
            guard let bytes = try? Data(contentsOf: folder.appendingPathComponent(file)) else { return nil }
            return try? PropertyListDecoder().decode(StoredNotification.self, from: bytes)
        }
        .sorted { ($0.date, $0.identifier) < ($1.date, $1.identifier) }
    }

    /// Stores a notification in place of one with the same identifier.
    func put(_ notification: StoredNotification, in list: List) throws {
        let file = file(notification.identifier, list)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        try encoder.encode(notification).write(to: file, options: .atomic)
    }

    /// Removes a notification.
    ///
    /// - Returns: Whether this call removed it, rather than another process.
    @discardableResult
    func remove(_ identifier: String, from list: List) -> Bool {
        (try? FileManager.default.removeItem(at: file(identifier, list))) != nil
    }

    /// Removes all notifications of a list.
    func removeAll(_ list: List) {
        try? FileManager.default.removeItem(at: directory.appendingPathComponent(list.rawValue))
    }

    private func file(_ identifier: String, _ list: List) -> URL {
        directory.appendingPathComponent(list.rawValue).appendingPathComponent(Self.name(of: identifier))
    }

    /// A file name for an identifier: its bytes in base 64 or, if that is too long, the beginning and a hash
    /// (FNV-1a, 64 bits).
    static func name(of identifier: String) -> String {
        let bytes = Array(identifier.utf8)
        func encoded(_ bytes: some Sequence<UInt8>) -> String {
            Data(bytes).base64EncodedString().replacingOccurrences(of: "/", with: "_")
        }
        guard bytes.count > 120 else { return encoded(bytes) + ".plist" }
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return "\(encoded(bytes.prefix(60)))-\(String(hash, radix: 16)).plist"
    }
}
