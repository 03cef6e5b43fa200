/// The coding of manifests in recorded logs.
///
/// Modes are encoded in order, so that the same manifest gives the same bytes in every process.
extension Manifest: Codable {
    private enum CodingKeys: String, CodingKey {
        case bundle, library, modes, tasks, sandbox, pendingLimits, appLaunch
    }

    /// Decodes the output of ``encode(to:)`` without checking it again.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            bundle: values.decode(BundleIdentifier.self, forKey: .bundle),
            library: values.decodeIfPresent(String.self, forKey: .library),
            modes: values.decode(Set<BackgroundMode>.self, forKey: .modes),
            tasks: values.decode([TaskDeclaration].self, forKey: .tasks),
            sandbox: values.decode(SandboxDeclaration.self, forKey: .sandbox))
        pendingLimits =
            try values.decodeIfPresent(PendingLimits.self, forKey: .pendingLimits) ?? PendingLimits()
        appLaunch = try values.decodeIfPresent(TaskIdentifier.self, forKey: .appLaunch)
    }

    /// Encodes every field; the limits of pending requests only if the manifest sets one.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(bundle, forKey: .bundle)
        try values.encodeIfPresent(library, forKey: .library)
        try values.encode(modes.sorted { $0.rawValue < $1.rawValue }, forKey: .modes)
        try values.encode(tasks, forKey: .tasks)
        try values.encode(sandbox, forKey: .sandbox)
        if pendingLimits != PendingLimits() { try values.encode(pendingLimits, forKey: .pendingLimits) }
        try values.encodeIfPresent(appLaunch, forKey: .appLaunch)
    }
}
