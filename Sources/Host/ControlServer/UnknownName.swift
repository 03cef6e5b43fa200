import ControlWire
import StrictFiles
import TaskModel

/// Refuses a name that a request must not contain.
enum UnknownName {
    /// The kind of a name.
    enum Place: String {
        case key
        case queryParameter = "query parameter"
    }

    /// Creates the error, with all valid names and the one that the client probably meant.
    ///
    /// - Parameters:
    ///   - name: The name that the client wrote. A key in a nested object follows the keys of the outer
    ///     objects, separated by points.
    ///   - place: The kind of the name.
    ///   - valid: The names that are valid in its place.
    ///   - subject: The method and the path.
    /// - Returns: An error such as `POST /v1/cancel: Not a valid key: 'targt'. Did you mean 'target'? Valid
    ///   keys: target.`
    static func refusal(
        _ name: String, of place: Place, valid: [String], subject: String
    ) -> SubmissionError {
        let word = name.split(separator: ".").last.map(String.init) ?? name
        var advice: [String] = []
        if let match = match(word, in: valid) { advice.append("Did you mean '\(match)'?") }
        advice.append(
            valid.isEmpty
                ? "This route has no \(place.rawValue)s"
                : "Valid \(place.rawValue)s: \(valid.joined(separator: ", "))"
        )
        return ClientText.invalid(
            subject, "Not a valid \(place.rawValue): '\(Printable.text(name, maximumLength: 64))'",
            remedy: advice.joined(separator: " "))
    }

    /// The valid name with the fewest differences, or else the shortest one that contains the word: for
    /// `earliest`, it is `earliestBeginDate`.
    private static func match(_ word: String, in valid: [String]) -> String? {
        if let nearest = Nearest.match(word, in: valid) { return nearest }
        guard word.count >= 3 else { return nil }
        return valid.filter { $0.lowercased().contains(word.lowercased()) }.min { $0.count < $1.count }
    }
}
