import TaskModel

/// A ``VersionAdvice`` as the database has it; the form is the store's own, like that of
/// ``StoredBundleState``.
struct StoredAdvice: Codable {
    struct Piece: Codable {
        var code: String
        var message: String
        /// `L42`.
        var launch: LaunchID
        var at: StoredInstant
    }

    var libraryHash: String
    /// Oldest first.
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

    /// The advice of the model.
    var advice: VersionAdvice {
        VersionAdvice(
            libraryHash: libraryHash,
            advice: pieces.map {
                PluginAdvice(code: $0.code, message: $0.message, launch: $0.launch, at: $0.at.time)
            })
    }
}
