import ControlWire
import StrictFiles
import TaskModel

/// How a name that a request may not have is refused.
enum UnknownName {
    /// What the name is of.
    enum Place: String {
        case key
        case queryParameter = "query parameter"
    }

    /// A refusal with the valid name that was probably meant, and with all of them.
    ///
    /// - Parameters:
    ///   - name: What the client wrote; a key may follow the keys of the objects around it, with points
    ///     between.
    ///   - place: What the name is of.
    ///   - valid: The valid names at that place.
    ///   - subject: The method and the path.
    /// - Returns: `POST /v1/cancel: Not a valid key: 'targt'. Did you mean 'target'? Valid keys: target.`
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

    /// The name with the fewest differences, else the shortest that contains the word: `earliest`,
    /// `earliestBeginDate`.
    private static func match(_ word: String, in valid: [String]) -> String? {
        if let nearest = Nearest.match(word, in: valid) { return nearest }
        guard word.count >= 3 else { return nil }
        return valid.filter { $0.lowercased().contains(word.lowercased()) }.min { $0.count < $1.count }
    }
}
