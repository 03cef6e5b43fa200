/// Short forms of identifiers: `hash` and `treeh.hash` can both mean `com.example.treehash.hash`.
///
/// A short form leaves out the beginning of the identifier. So a whole identifier that the host does not
/// know, such as that of a task that was removed, does not mean another one by chance.
public enum ShortName {
    /// How closely a short form fits an identifier; only the closest fits count.
    private enum Fit: Int, Comparable {
        /// The identifier itself.
        case whole
        /// Its last labels.
        case end
        /// The beginnings of its last labels.
        case beginningsAtEnd
        /// The beginnings of labels that follow each other anywhere.
        case beginnings

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The identifiers that a short form can mean, sorted.
    ///
    /// All of them fit equally closely. The identifier itself fits best, then one that ends with the labels
    /// of the short form, then one whose last labels begin with them, then one that has such labels anywhere.
    ///
    /// - Parameters:
    ///   - word: The short form.
    ///   - names: The identifiers to choose from, in any order; one may be there more than once.
    /// - Returns: No identifier if none fits; more than one if the short form is ambiguous.
    public static func meanings(of word: String, in names: some Sequence<String>) -> [String] {
        let labels = word.split(separator: ".", omittingEmptySubsequences: false)
        // An empty label would be the beginning of every label.
        guard labels.allSatisfy({ !$0.isEmpty }) else { return [] }
        var best = Fit.beginnings
        var found: Set<String> = []
        for name in names {
            guard let fit = fit(word, labels, name), fit <= best else { continue }
            if fit < best { found = [] }
            best = fit
            found.insert(name)
        }
        return found.sorted()
    }

    /// The identifier of a task with a wildcard that a short form can mean: `export.42` means
    /// `com.example.export.42` if a manifest permits `com.example.export.*`.
    ///
    /// - Returns: An identifier that the pattern matches; `nil` if the short form has only one label, which
    ///   says nothing about the pattern, or if the pattern is no wildcard.
    public static func expansion(of word: String, by pattern: IdentifierPattern) -> String? {
        guard pattern.isWildcard else { return nil }
        if let identifier = try? TaskIdentifier(word), pattern.matches(identifier) { return word }
        let labels = word.split(separator: ".")
        guard labels.count > 1, let last = labels.last else { return nil }
        return pattern.base.rawValue + "." + last
    }

    private static func fit(_ word: String, _ labels: [Substring], _ name: String) -> Fit? {
        if name == word { return .whole }
        if name.hasSuffix("." + word) { return .end }
        let parts = name.split(separator: ".")
        let end = parts.count - labels.count
        guard end > 0 else { return nil }
        func begin(at start: Int) -> Bool {
            zip(parts[start...], labels).allSatisfy { $0.hasPrefix($1) }
        }
        if begin(at: end) { return .beginningsAtEnd }
        return (1..<end).contains(where: begin) ? .beginnings : nil
    }
}
