/// The tasks and bundles that a word can mean: the body of `GET /v1/names`.
public struct NamesMessage: Codable, Equatable, Sendable {
    /// The tasks.
    public var tasks: Meanings
    /// The bundles.
    public var bundles: Meanings

    public init(tasks: Meanings, bundles: Meanings) {
        self.tasks = tasks
        self.bundles = bundles
    }

    /// The identifiers of one kind that a word can mean.
    public struct Meanings: Codable, Equatable, Sendable {
        /// The identifiers, sorted; at most ``NamesMessage/greatestCount`` of them.
        public var identifiers: [String]
        /// The identifier that a misspelled word probably means; `null` if ``identifiers`` has one, or if
        /// none is similar.
        @Explicit public var nearest: String?

        public init(identifiers: [String], nearest: String? = nil) {
            self.identifiers = identifiers
            self.nearest = nearest
        }
    }

    /// The largest number of identifiers of one kind in a message.
    public static let greatestCount = 1000
}
