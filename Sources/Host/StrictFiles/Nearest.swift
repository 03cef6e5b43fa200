/// Finds the valid word that is most similar to a misspelled one.
public enum Nearest {
    /// The valid word that a misspelled one probably means; `nil` if none is similar.
    ///
    /// It is the word with the smallest edit distance, if that is at most a third of the word's length (at
    /// least 1). Otherwise, it is the shortest word that contains the misspelled one.
    public static func match(_ word: String, in candidates: some Sequence<String>) -> String? {
        let limit = max(1, max(word.count, 3) / 3)
        let word = Array(word.lowercased().utf8.prefix(64))
        var best: (distance: Int, candidate: String)?
        for candidate in candidates {
            // Words of very different length are skipped, because each edit changes the length by at most
            // one.
            let other = Array(candidate.lowercased().utf8.prefix(64))
            guard abs(other.count - word.count) <= limit else { continue }
            let distance = distance(word, other)
            guard distance <= limit else { continue }
            if let best, best <= (distance, candidate) { continue }
            best = (distance, candidate)
        }
        if let best { return best.candidate }
        // People often omit a part that seems obvious to them: `refresh` for `appRefresh`.
        guard word.count >= 4 else { return nil }
        let longer = candidates.filter { $0.lowercased().utf8.count > word.count }
            .filter { $0.lowercased().contains(String(decoding: word, as: UTF8.self)) }
        return longer.min { ($0.count, $0) < ($1.count, $1) }
    }

    /// Advice for a message: `Did you mean 'x'?`, or the list of valid words.
    ///
    /// `noun` is the plural in front of the list: for `keys`, the list is `Valid keys: a, b`.
    public static func advice(for word: String, in candidates: [String], noun: String = "values") -> String {
        if let match = match(word, in: candidates) { return "Did you mean '\(match)'?" }
        return candidates.isEmpty
            ? "Remove it" : "Valid \(noun): \(candidates.sorted().joined(separator: ", "))"
    }

    /// The Levenshtein distance, but swapping two neighbors counts as one edit.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var rows = [Array(0...b.count)]
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var best = min(rows[i][j] + (a[i] == b[j] ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    best = min(best, rows[i - 1][j - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
