/// Why the store could not do what was asked.
public struct StoreError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller can switch on.
    public enum Code: String, Sendable, CaseIterable {
        /// Another host has the state directory.
        case inUse
        /// The files are not, or no longer, a store.
        case damaged
        /// A newer host has written it.
        case newerSchema
        /// No space is left; nothing was changed. Reads go on, and so does writing when there is space.
        case diskFull
        /// The disk reported an error; nothing was acknowledged. The store has opened its files again.
        case inputOutput
        /// The files can't be opened: rights, a directory that is missing.
        case cannotOpen
        /// The database would not promise durability.
        case notDurable
        /// The store was closed.
        case closed
        /// The request is not pending, or there is none by that number.
        case notPending
    }

    /// The stable code.
    public let code: Code
    /// What it is about: a file, a request.
    public let subject: String
    /// What was found.
    public let finding: String
    /// What to do.
    public let remedy: String

    /// Makes an error.
    public init(code: Code, subject: String, finding: String, remedy: String) {
        self.code = code
        self.subject = subject
        self.finding = finding
        self.remedy = remedy
    }

    /// `/var/lib/bgtask/store.sqlite: SQLite found: database disk image is malformed. Run ... [damaged]`.
    public var description: String { "\(subject): \(finding). \(remedy). [\(code.rawValue)]" }
}
