/// Finds the valid word that a misspelled one is nearest to.
public enum Nearest {
    /// The candidate with the smallest edit distance, if that is at most a third of the word (and at least
    /// 1); otherwise, the shortest one that contains the word.
    public static func match(_ word: String, in candidates: some Sequence<String>) -> String? {
        let limit = max(1, max(word.count, 3) / 3)
        let word = Array(word.lowercased().utf8.prefix(64))
        var best: (distance: Int, candidate: String)?
        for candidate in candidates {
            // Each step changes the length by one at most: most of many candidates need no table.
            let other = Array(candidate.lowercased().utf8.prefix(64))
            guard abs(other.count - word.count) <= limit else { continue }
            let distance = distance(word, other)
            guard distance <= limit else { continue }
            if let best, best <= (distance, candidate) { continue }
            best = (distance, candidate)
        }
        if let best { return best.candidate }
        // `refresh` means `appRefresh`: people leave out what they think is obvious.
        guard word.count >= 4 else { return nil }
        let longer = candidates.filter { $0.lowercased().utf8.count > word.count }
            .filter { $0.lowercased().contains(String(decoding: word, as: UTF8.self)) }
        return longer.min { ($0.count, $0) < ($1.count, $1) }
    }

    /// `Did you mean 'x'?`, or the list of valid words.
    ///
    /// `noun` names the words in the plural: `keys` gives `Valid keys: a, b`.
    public static func advice(for word: String, in candidates: [String], noun: String = "values") -> String {
        if let match = match(word, in: candidates) { return "Did you mean '\(match)'?" }
        return candidates.isEmpty
            ? "Remove it" : "Valid \(noun): \(candidates.sorted().joined(separator: ", "))"
    }

    /// Levenshtein's distance with swaps of neighbours counted as one.
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
