/// Advice for the author of a plugin, given once for each version of its library.
public struct PluginAdvice: Equatable, Sendable, Codable {
    /// One word for what was found: `chainEnds`, `noExpirationHandler`, or a word of the plugin itself.
    public var code: String
    /// What was found and what to do.
    public var message: String
    /// The launch that showed it.
    public var launch: LaunchID
    /// When.
    public var at: WallTime

    /// Makes a piece of advice.
    public init(code: String, message: String, launch: LaunchID, at: WallTime) {
        self.code = code
        self.message = message
        self.launch = launch
        self.at = at
    }
}
