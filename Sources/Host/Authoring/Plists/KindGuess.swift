import TaskModel

/// The probable kind of a task, for conversion of a property list, which does not contain kinds.
struct KindGuess {
    /// The guessed kind.
    var kind: TaskKind
    /// The reason for the guess, which becomes a comment in the manifest.
    var reason: String

    private static let refreshWords = [
        "refresh", "fetch", "update", "reload", "poll", "check", "feed", "news", "weather", "widget",
    ]
    private static let processingWords = [
        "process", "clean", "maint", "export", "import", "sync", "backup", "index", "upload", "download",
        "migrat", "vacuum", "compact", "purge", "prune", "train", "database", "db", "ml",
    ]

    /// Guesses the kind from the modes that the app declares, and then from words in the identifier.
    ///
    /// - Parameters:
    ///   - pattern: The identifier or wildcard that the property list permits.
    ///   - bundle: The app's identifier, which is removed first, because its words say nothing about the
    ///     task.
    ///   - modes: The modes in `UIBackgroundModes` that bgtask has, too.
    /// - Returns: The kind, with the reason.
    static func kind(
        of pattern: IdentifierPattern, bundle: BundleIdentifier, modes: Set<BackgroundMode>
    ) -> KindGuess {
        if pattern.isWildcard {
            return KindGuess(
                kind: .continuedProcessing, reason: "guessed: only continued tasks can end in '.*'")
        }
        let text = pattern.base.rawValue
        let isInside = text.hasPrefix(bundle.rawValue + ".")
        let own = (isInside ? String(text.dropFirst(bundle.rawValue.count + 1)) : text)
        let words = words(of: own)
        if isInside, words.contains("continued") {
            return KindGuess(kind: .continuedProcessing, reason: "guessed: 'continued' in the name")
        }
        switch (modes.contains(.fetch), modes.contains(.processing)) {
        case (true, false):
            return KindGuess(
                kind: .appRefresh, reason: "guessed: UIBackgroundModes has 'fetch', not 'processing'")
        case (false, true):
            return KindGuess(
                kind: .processing, reason: "guessed: UIBackgroundModes has 'processing', not 'fetch'")
        case (true, true), (false, false):
            break
        }
        // The last word that suggests a kind decides, so 'sync.refresh' is a refresh task.
        for word in words.reversed() {
            if let found = match(word, refreshWords) {
                return KindGuess(kind: .appRefresh, reason: "guessed: '\(found)' in the name")
            }
            if let found = match(word, processingWords) {
                return KindGuess(kind: .processing, reason: "guessed: '\(found)' in the name")
            }
        }
        if modes.isDisjoint(with: [.fetch, .processing]), isInside {
            return KindGuess(
                kind: .continuedProcessing,
                reason: "guessed: UIBackgroundModes has neither 'fetch' nor 'processing'")
        }
        return KindGuess(kind: .appRefresh, reason: "guessed: nothing in the name says what it is")
    }

    /// The first stem that the word matches: a stem of up to three bytes must be the whole word.
    private static func match(_ word: String, _ stems: [String]) -> String? {
        stems.first { $0.utf8.count < 4 ? word == $0 : word.contains($0) }
    }

    /// Splits a text into lowercase words: `db_cleaning`, `dbCleaning` and `db-cleaning` give "db",
    /// "cleaning".
    private static func words(of text: String) -> [String] {
        var words = [""]
        for character in text {
            if character.isLetter || character.isNumber {
                if character.isUppercase, words.last?.last?.isUppercase == false { words.append("") }
                words[words.count - 1].append(character)
            } else {
                words.append("")
            }
        }
        return words.filter { !$0.isEmpty }.map { $0.lowercased() }
    }
}

/// Suggests replacements for the background modes of iOS that bgtask does not have.
enum ForeignModes {
    private static let services =
        "keep the connection in a separate service that submits tasks: bgtask submit IDENTIFIER"
    private static let devices =
        "let a udev rule or a service submit a task when the device appears: bgtask submit IDENTIFIER"
    private static let table = [
        "audio": "tasks can't play sound in the background; use a player or a separate service",
        "location": "tasks can't follow the location; use a schedule, or a service that submits tasks",
        "voip": services,
        "push-to-talk": services,
        "network-authentication": "use NetworkManager's dispatcher scripts, which may submit a task",
        "external-accessory": devices,
        "bluetooth-central": devices,
        "bluetooth-peripheral": devices,
        "nearby-interaction": devices,
        "newsstand-content": "declare 'fetch' and use an appRefresh task",
    ]

    /// The replacement for a mode, as the end of a sentence.
    static func replacement(of mode: String) -> String {
        table[mode] ?? "bgtask does not have this mode; it has fetch, processing and remote-notification"
    }
}
