import StrictFiles
import TaskModel

/// Checks one Swift file: what a condition excludes on Linux, and what does not compile or does nothing
/// there.
struct SourceRules {
    private let file: SwiftFile
    private let clauses: [ConditionalClause]

    private let parts: SessionParts

    init(_ file: SwiftFile, _ parts: SessionParts = SessionParts()) {
        self.file = file
        self.parts = parts
        clauses = ConditionalClause.all(in: file.tokens)
    }

    func problems() -> [ManifestProblem] {
        clauses.compactMap(vanished) + file.tokens.indices.flatMap(findings)
            + SourceTraps(file, clauses, parts).problems()
    }

    // MARK: What compiles to nothing

    private static let symbols: Set = [
        "BGTask", "BGAppRefreshTask", "BGProcessingTask", "BGHealthResearchTask", "BGContinuedProcessingTask",
        "BGTaskRequest", "BGAppRefreshTaskRequest", "BGProcessingTaskRequest", "BGHealthResearchTaskRequest",
        "BGContinuedProcessingTaskRequest", "BGTaskScheduler", "BackgroundTasks",
    ]
    private static let appSymbols: Set = [
        "backgroundTask", "beginBackgroundTask", "endBackgroundTask", "UIBackgroundTaskIdentifier",
        "NSBackgroundActivityScheduler", "performExpiringActivity", "registerForRemoteNotifications",
        "didReceiveRemoteNotification", "handleEventsForBackgroundURLSession", "urlSessionDidFinishEvents",
    ]

    /// The names in a range of tokens that belong to background APIs, without repetition, in order of
    /// appearance.
    private func mentions(_ range: Range<Int>) -> [String] {
        var found: [String] = []
        for token in file.tokens[range] {
            guard let word = token.word, Self.symbols.contains(word) || Self.appSymbols.contains(word),
                !found.contains(word)
            else { continue }
            found.append(word)
        }
        return found
    }

    private func vanished(_ clause: ConditionalClause) -> ManifestProblem? {
        guard clause.onLinux == false, !clause.isInsideDead else { return nil }
        let mentions = mentions(clause.tokens)
        guard let first = mentions.first else { return nil }
        let isDoneElsewhere = clauses.contains {
            $0.group == clause.group && $0.onLinux != false && !self.mentions($0.tokens).isEmpty
        }
        // The only API for the background that is macOS's alone.
        let isAboutMac = first == "NSBackgroundActivityScheduler" && clause.onIPhone == false
        let isAboutSimulator = clause.conditions.contains { $0.contains("targetEnvironment") }
        guard !isDoneElsewhere, clause.onIPhone != false || isAboutSimulator || isAboutMac else { return nil }
        let isWholeFile = !file.tokens.indices.contains { index in
            if clause.tokens.contains(index) { return false }
            switch file.tokens[index].kind {
            case .comment, .directive: return false
            default: return true
            }
        }
        let what =
            isWholeFile
            ? "the whole file"
            : "the code down to line \(clause.lastLine) (\(first)\(mentions.count > 1 ? ", ..." : ""))"
        let module = mentions.contains(where: Self.symbols.contains) ? "BackgroundTasks" : "UIKit"
        if isAboutMac {
            return ManifestProblem(
                file: file.path, line: clause.place.line, column: clause.place.column,
                finding: "'\(clause.name)' is false on Linux, so \(what) is silently left out",
                remedy: wayOut(of: clause)
                    ?? "Write '#if os(macOS) || os(Linux)': the module BackgroundTasks has \(first)")
        }
        let keyword = clause.isElse || clause.name.hasPrefix("#elseif") ? "#elseif" : "#if"
        return ManifestProblem(
            severity: clause.onIPhone == false ? .warning : .error, file: file.path, line: clause.place.line,
            column: clause.place.column,
            finding: "'\(clause.name)' is false on Linux, so \(what) is silently left out",
            remedy: wayOut(of: clause)
                ?? (clause.onIPhone == false
                    ? "A real iPhone leaves it out too. To include it on Linux, write '\(keyword) canImport(\(module))'"
                    : "Write '\(keyword) canImport(\(module))'"))
    }

    /// What to do if an earlier clause of the same `#if` is true on Linux, so that another condition in its
    /// place would not help; `nil` if there is none.
    private func wayOut(of clause: ConditionalClause) -> String? {
        let taken = clauses.first {
            $0.group == clause.group && $0.onLinux == true
                && $0.tokens.lowerBound < clause.tokens.lowerBound
        }
        return taken.map {
            "Linux takes the clause '\($0.name)' before it: move the code there, or out of the '#if'"
        }
    }

    // MARK: What does not compile, or does nothing

    private func findings(at index: Int) -> [ManifestProblem] {
        let isDead = clauses.contains { $0.onLinux == false && $0.tokens.contains(index) }
        let token = file.tokens[index]
        switch token.kind {
        case .comment(let text):
            return debugger(in: text, at: token)
        case .string(let text, _):
            return isDead ? [] : debugger(in: text, at: token)
        case .attribute(let name) where !isDead:
            return attribute(name, token)
        case .hash(let name) where !isDead && ["selector", "keyPath"].contains(name):
            return [
                error(
                    token, "'#\(name)' is an error on Linux, which has no Objective-C",
                    name == "selector"
                        ? "Pass a closure; most of Foundation's calls that take a selector have a variant that takes one"
                        : "Write a key path: \\.name")
            ]
        case .word(let word) where !isDead:
            return self.word(word, at: index)
        default:
            return []
        }
    }

    private func attribute(_ name: String, _ token: SwiftToken) -> [ManifestProblem] {
        guard
            ["objc", "objcMembers", "IBAction", "IBOutlet", "IBSegueAction", "NSManaged", "IBDesignable"]
                .contains(name)
        else { return [] }
        return [
            error(
                token, "'@\(name)' is an error on Linux, which has no Objective-C",
                name.hasPrefix("objc")
                    ? "Remove it, or keep it behind '#if canImport(ObjectiveC)'"
                    : "Keep views and models out of a plugin, or put it behind '#if canImport(ObjectiveC)'")
        ]
    }

    private func word(_ word: String, at index: Int) -> [ManifestProblem] {
        let token = file.tokens[index]
        switch word {
        case "observe" where isCall(index, of: "\\"):
            return [
                error(
                    token, "'.observe(\\.' is an error on Linux, where Foundation has no key-value observing",
                    "Use a closure or a property's didSet. The host follows a task's progress by itself")
            ]
        case "addObserver" where hasLabel("forKeyPath", from: index):
            return [
                error(
                    token,
                    "'addObserver(_:forKeyPath:)' is an error on Linux, where Foundation has no key-value observing",
                    "Use a closure or a property's didSet")
            ]
        case "Timer", "scheduledTimer", "addObserver":
            guard hasPlainSelector(index) else { return [] }
            return [
                error(
                    token, "'\(word)(... selector:)' is an error on Linux, which has no Objective-C",
                    word == "addObserver"
                        ? "Use 'addObserver(forName:object:queue:using:)'"
                        : "Use 'scheduledTimer(withTimeInterval:repeats:block:)'")
            ]
        case "BGContinuedProcessingTaskRequest":
            guard let title = emptyTitle(index) else { return [] }
            return [
                error(
                    title, "submit refuses a continued task without a title",
                    "Give it the title that the user sees")
            ]
        case "setMinimumBackgroundFetchInterval" where index == 0 || file.tokens[index - 1].word != "func":
            return [
                error(
                    token,
                    "'\(word)' belongs to the background fetch before iOS 13, which bgtask does not have",
                    "Register an appRefresh task and submit a BGAppRefreshTaskRequest; "
                        + "'schedule: {every: 15m}' in the manifest repeats it")
            ]
        case "performFetchWithCompletionHandler":
            return [
                warning(
                    token, "'\(word)' is never called: it belongs to the background fetch before iOS 13",
                    "Do its work in the handler of an appRefresh task")
            ]
        default:
            return []
        }
    }

    /// Whether a name is called with an argument that begins with this sign: `name(sign`.
    private func isCall(_ index: Int, of sign: Character) -> Bool {
        let tokens = file.tokens
        return index + 2 < tokens.count && tokens[index + 1].isSign("(") && tokens[index + 2].isSign(sign)
    }

    /// Whether a call has a selector in its arguments; one as `#selector` is an error of its own.
    private func hasPlainSelector(_ index: Int) -> Bool {
        guard hasLabel("selector", from: index) else { return false }
        return !call(index).contains { $0.kind == .hash("selector") }
    }

    /// The tokens of the brackets after an index.
    private func call(_ index: Int) -> ArraySlice<SwiftToken> {
        var depth = 0
        for end in file.tokens.indices.dropFirst(index + 1) {
            if file.tokens[end].isOpening { depth += 1 }
            if file.tokens[end].isClosing { depth -= 1 }
            if depth <= 0 { return file.tokens[(index + 1)...end] }
        }
        return file.tokens[(index + 1)...]
    }

    /// The title of a continued task, if it is an empty text.
    private func emptyTitle(_ index: Int) -> SwiftToken? {
        let arguments = call(index)
        guard let label = arguments.firstIndex(where: { $0.word == "title" }), label + 2 < arguments.endIndex,
            case .string(let text, isWhole: true) = arguments[label + 2].kind,
            text.allSatisfy(\.isWhitespace)
        else { return nil }
        return arguments[label + 2]
    }

    /// Whether a label occurs inside the brackets of the call after this index.
    private func hasLabel(_ label: String, from index: Int) -> Bool {
        var depth = 0
        for token in file.tokens[(index + 1)...] {
            if token.isOpening { depth += 1 }
            if token.isClosing { depth -= 1 }
            if depth <= 0 { return false }
            if token.word == label { return true }
        }
        return false
    }

    /// Warns about Apple's private debugger commands, which have an equivalent command of `bgtask`.
    private func debugger(in text: String, at token: SwiftToken) -> [ManifestProblem] {
        let calls = [
            ("_simulateLaunchForTaskWithIdentifier", "bgtask launch IDENTIFIER"),
            ("_simulateExpirationForTaskWithIdentifier", "bgtask expire IDENTIFIER"),
        ]
        for (call, command) in calls where text.contains(call) {
            return [
                warning(token, "'\(call)' is for Apple's debugger", "Use this command instead: \(command)")
            ]
        }
        guard text.contains("e -l objc") else { return [] }
        return [
            warning(
                token, "'e -l objc' is for Apple's debugger; Linux has no Objective-C",
                "Start tasks with 'bgtask launch', and stop them with 'bgtask expire'")
        ]
    }

    private func error(_ token: SwiftToken, _ finding: String, _ remedy: String) -> ManifestProblem {
        ManifestProblem(
            file: file.path, line: token.place.line, column: token.place.column, finding: finding,
            remedy: remedy)
    }

    private func warning(_ token: SwiftToken, _ finding: String, _ remedy: String) -> ManifestProblem {
        ManifestProblem(
            severity: .warning, file: file.path, line: token.place.line, column: token.place.column,
            finding: finding, remedy: remedy)
    }
}
