public import Foundation

/// A sound of a notification; never played here.
open class UNNotificationSound: NSObject, @unchecked Sendable {
    // Unchecked: the object never changes.

    let name: String

    init(stored name: String) {
        self.name = name
        super.init()
    }

    /// Names a sound in a file of the app.
    public convenience init(named name: UNNotificationSoundName) { self.init(stored: name.rawValue) }

    /// The standard sound.
    open class var `default`: UNNotificationSound { UNNotificationSound(stored: "default") }
    /// The sound of critical alerts.
    open class var defaultCritical: UNNotificationSound { UNNotificationSound(stored: "critical") }

    /// Whether both name the same sound.
    open override func isEqual(_ object: Any?) -> Bool { (object as? UNNotificationSound)?.name == name }
    /// A hash of the name.
    open override var hash: Int { name.hashValue }
}

/// The file name of a sound.
public struct UNNotificationSoundName: RawRepresentable, Hashable, Sendable {
    /// The file name.
    public let rawValue: String
    /// Names a file.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Names a file.
    public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// A file that is shown with a notification; not shown here.
open class UNNotificationAttachment: NSObject, @unchecked Sendable {
    // Unchecked: the object never changes.

    let facts: AttachmentFacts

    init(_ facts: AttachmentFacts) {
        self.facts = facts
        super.init()
    }

    /// Names a file.
    ///
    /// - Parameters:
    ///   - identifier: The name of the attachment.
    ///   - url: The file; it stays where it is.
    ///   - options: Not used.
    /// - Throws: ``UNError/attachmentInvalidURL`` if there is no such file.
    public convenience init(identifier: String, url: URL, options: [AnyHashable: Any]? = nil) throws {
        guard url.isFileURL, FileManager.default.fileExists(atPath: url.path) else {
            throw UNError(
                .attachmentInvalidURL, "\(url.absoluteString): it names no file. Give the URL of a file.")
        }
        self.init(AttachmentFacts(identifier: identifier, url: url, type: url.pathExtension))
    }

    /// The name of the attachment.
    open var identifier: String { facts.identifier }
    /// The file.
    open var url: URL { facts.url }
    /// The extension of the file's name; Linux has no uniform types.
    open var type: String { facts.type }
}
