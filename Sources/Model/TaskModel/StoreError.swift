/// Why the store could not do what the host requested.
public struct StoreError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of a store error, for callers to switch on.
    public enum Code: String, Sendable, CaseIterable {
        /// Another host uses the state directory.
        case inUse
        /// The files are not a store, or are damaged.
        case damaged
        /// A newer version of the host wrote the store.
        case newerSchema
        /// No space is left, so nothing was changed.
        ///
        /// Reading still works, and writing works again as soon as there is space.
        case diskFull
        /// The disk reported an error, so nothing was acknowledged.
        ///
        /// The store has opened its files again.
        case inputOutput
        /// The files cannot be opened, for example because of missing rights or a missing directory.
        case cannotOpen
        /// The database cannot guarantee durability.
        case notDurable
        /// The store was closed.
        case closed
        /// The request is not pending, or does not exist.
        case notPending
    }

    /// The kind of the error.
    public let code: Code
    /// The file or request that the error is about.
    public let subject: String
    /// What is wrong, in words.
    public let finding: String
    /// What to do.
    public let remedy: String

    public init(code: Code, subject: String, finding: String, remedy: String) {
        self.code = code
        self.subject = subject
        self.finding = finding
        self.remedy = remedy
    }

    /// The error in one line, such as `/var/lib/bgtask/store.sqlite: SQLite reported: database disk image is
    /// malformed. Run ... [damaged]`.
    public var description: String { "\(subject): \(finding). \(remedy). [\(code.rawValue)]" }
}
