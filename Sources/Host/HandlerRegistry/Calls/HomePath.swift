import LinuxSystem
import TaskModel

/// Paths of a manifest that may begin with `~/`, which stands for the home directory of the host's user.
enum HomePath {
    /// Replaces `~`.
    ///
    /// - Parameters:
    ///   - path: The path, with the values of the payload.
    ///   - template: The path as the manifest has it; `nil` if that is the same.
    ///   - subject: The identifier of the request, for the error.
    /// - Returns: An absolute path, if the path begins with `~`; otherwise, the path itself.
    /// - Throws: ``SubmissionError`` if the host has no home directory.
    static func expand(
        _ path: String, of template: String? = nil, _ subject: String
    ) throws(SubmissionError) -> String {
        let written = template ?? path
        guard written == "~" || written.hasPrefix("~/") else { return path }
        guard let home = ProcessFacts.environment("HOME"), home.hasPrefix("/") else {
            throw SubmissionError(
                code: .invalidRequest, subject: subject,
                finding: "the manifest names '\(written)', but the host has no home directory",
                remedy: "Start the host with HOME set, or write the full path")
        }
        return home + path.dropFirst()
    }
}
