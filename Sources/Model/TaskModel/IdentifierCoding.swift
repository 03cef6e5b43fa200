extension LaunchID: Codable {
    /// Decodes `"L42"`.
    public init(from decoder: any Decoder) throws {
        let text = try String(from: decoder)
        guard let id = Self(text) else { throw DecodingError.notThat("a launch such as L42", text, decoder) }
        self = id
    }

    /// Encodes `"L42"`.
    public func encode(to encoder: any Encoder) throws {
        try description.encode(to: encoder)
    }
}

extension RequestID: Codable {
    /// Decodes `"R17"`.
    public init(from decoder: any Decoder) throws {
        let text = try String(from: decoder)
        guard let id = Self(text) else { throw DecodingError.notThat("a request such as R17", text, decoder) }
        self = id
    }

    /// Encodes `"R17"`.
    public func encode(to encoder: any Encoder) throws {
        try description.encode(to: encoder)
    }
}

extension DecodingError {
    fileprivate static func notThat(_ wanted: String, _ found: String, _ decoder: any Decoder)
        -> DecodingError
    {
        .dataCorrupted(
            Context(codingPath: decoder.codingPath, debugDescription: "'\(found)' is not \(wanted)"))
    }
}
