/// The value of a payload key that a submission may leave out.
public enum PayloadDefault: Equatable, Sendable, Codable {
    // One case for each ``PayloadType``.
    case string(String), integer(Int64), number(Double), boolean(Bool)
}

extension TaskDeclaration {
    /// The keys that a payload must contain: those without a default, with their types.
    public var requiredPayload: [String: PayloadType] {
        payload.filter { payloadDefaults?[$0.key] == nil }
    }
}
