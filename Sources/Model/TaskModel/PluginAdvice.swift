/// Advice for the author of a plugin, given once for each version of its library.
public struct PluginAdvice: Equatable, Sendable, Codable {
    /// A word that identifies the advice: one of the host's, which PluginGuide.md lists, such as `chainEnds`,
    /// or one that the plugin chose.
    public var code: String
    /// A sentence that says what was found and what to do.
    public var message: String
    /// The launch that gave rise to the advice.
    public var launch: LaunchID
    /// When the advice was given.
    public var at: WallTime

    public init(code: String, message: String, launch: LaunchID, at: WallTime) {
        self.code = code
        self.message = message
        self.launch = launch
        self.at = at
    }
}
