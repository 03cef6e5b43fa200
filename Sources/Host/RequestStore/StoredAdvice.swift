import TaskModel

/// The JSON form of ``VersionAdvice`` in the database.
///
/// The form belongs to the store, like that of ``StoredBundleState``.
struct StoredAdvice: Codable {
    struct Piece: Codable {
        var code: String
        var message: String
        /// The launch's name, such as `L42`.
        var launch: LaunchID
        var at: StoredInstant
    }

    var libraryHash: String
    /// The pieces of advice, oldest first.
    var pieces: [Piece]

    private enum CodingKeys: String, CodingKey {
        case libraryHash
        case pieces = "advice"
    }

    init(_ advice: VersionAdvice) {
        libraryHash = advice.libraryHash
        pieces = advice.advice.map {
            Piece(code: $0.code, message: $0.message, launch: $0.launch, at: StoredInstant($0.at))
        }
    }

    /// The stored advice, as the type that the host uses.
    var advice: VersionAdvice {
        VersionAdvice(
            libraryHash: libraryHash,
            advice: pieces.map {
                PluginAdvice(code: $0.code, message: $0.message, launch: $0.launch, at: $0.at.time)
            })
    }
}
