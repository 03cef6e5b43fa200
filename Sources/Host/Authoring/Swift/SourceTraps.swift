import StrictFiles
import TaskModel

/// Checks one Swift file for what exists on an iPhone and not on Linux: modules, types and functions.
struct SourceTraps {
    private let file: SwiftFile
    private let parts: SessionParts
    /// The tokens that are compiled for Linux, without comments.
    private let tokens: [SwiftToken]
    /// The names of all modules that the file imports.
    private let imported: Set<String>
    /// The sessions of the file.
    private let sessions: SessionTraps

    /// - Parameters:
    ///   - file: The file.
    ///   - clauses: Its conditional clauses; those that are false on Linux are not checked.
    ///   - parts: What the plugin has of the parts that a background session needs.
    init(_ file: SwiftFile, _ clauses: [ConditionalClause], _ parts: SessionParts = SessionParts()) {
        self.file = file
        self.parts = parts
        let dead = clauses.filter { $0.onLinux == false }.map(\.tokens)
        let tokens = file.tokens.indices.filter { index in !dead.contains { $0.contains(index) } }
            .map { file.tokens[$0] }
            .filter { if case .comment = $0.kind { false } else { true } }
        self.tokens = tokens
        imported = Set(tokens.indices.compactMap { Self.module(importedAt: $0, in: tokens)?.name })
        sessions = SessionTraps(file.path, tokens)
    }

    func problems() -> [ManifestProblem] {
        var problems = tokens.indices.compactMap(missingModule) + movedTypes()
        for index in tokens.indices {
            switch tokens[index].kind {
            case .attribute(let name): problems += entry(name, index)
            case .word(let word): problems += self.word(word, index)
            default: break
            }
        }
        return problems
    }

    // MARK: Modules

    private static let kindsOfImport: Set = [
        "struct", "class", "enum", "protocol", "typealias", "func", "let", "var", "actor",
    ]

    /// The module that a token imports, and the submodule or declaration after its dot.
    private static func module(importedAt index: Int, in tokens: [SwiftToken])
        -> (name: String, kind: String?, part: String?)?
    {
        guard tokens[index].word == "import", index == 0 || !tokens[index - 1].isSign(".") else { return nil }
        var next = index + 1
        var kind: String?
        if next < tokens.count, let word = tokens[next].word, kindsOfImport.contains(word) {
            kind = word
            next += 1
        }
        guard next < tokens.count, let name = tokens[next].word else { return nil }
        let part = next + 2 < tokens.count && tokens[next + 1].isSign(".") ? tokens[next + 2].word : nil
        return (name, kind, part)
    }

    private func missingModule(_ index: Int) -> ManifestProblem? {
        guard let module = Self.module(importedAt: index, in: tokens) else { return nil }
        if let remedy = AppleModules.remedy(module.name) {
            return problem(
                index, "'import \(module.name)' is an error on Linux, which has no such module", remedy)
        }
        guard module.kind == nil, let part = module.part, let parts = AppleModules.submodules[module.name],
            !parts.contains(part)
        else { return nil }
        return problem(
            index, "'import \(module.name).\(part)' is an error on Linux, which has no such submodule",
            "Write 'import \(module.name)'")
    }

    /// The first type of each module that is apart from Foundation on Linux and that the file does not
    /// import.
    private func movedTypes() -> [ManifestProblem] {
        var modules = imported
        // With the trait for background sessions, these modules contain FoundationNetworking.
        let isSession = sessions.names.hasBackgroundSession
        if isSession || parts.hasTrait, !imported.isDisjoint(with: Self.sessionModules) {
            modules.insert("FoundationNetworking")
        }
        return tokens.indices.compactMap { index in
            guard let word = tokens[index].word, let module = AppleModules.moved[word],
                index == 0 || !tokens[index - 1].isSign("."), modules.insert(module).inserted
            else { return nil }
            return problem(
                index, "'\(word)' is in the module \(module) on Linux, which this file does not import",
                isSession && module == "FoundationNetworking"
                    ? "Write 'import BackgroundTasks', and add the trait BackgroundTransfers to the package"
                    : "Write '#if canImport(\(module))', 'import \(module)' and '#endif' at the top of the file"
            )
        }
    }

    /// The modules of the SDK that contain background sessions.
    private static let sessionModules: Set = ["BackgroundTasks", "SwiftUI", "UIKit"]

    // MARK: Entry points

    private func entry(_ attribute: String, _ index: Int) -> [ManifestProblem] {
        guard attribute == "UIApplicationMain" || attribute == "NSApplicationMain" else { return [] }
        return [
            problem(index, "'@\(attribute)' crashes the Swift compiler on Linux", "Write '@main'")
        ]
    }

    /// The place of an entry point in this file: its `@main`; `nil` if there is none.
    var main: SwiftToken? { tokens.first { $0.kind == .attribute("main") } }

    /// The place of a call of `UIApplicationMain`.
    var mainCall: SwiftToken? { tokens.first { $0.word == "UIApplicationMain" } }

    // MARK: Types and functions

    /// A notification for later, which does not start a process.
    private func lateNotification(_ word: String, _ index: Int) -> [ManifestProblem] {
        guard isFollowed(index, by: "(") else { return [] }
        return [
            problem(
                index, "a notification with a trigger starts no process on Linux, so it may come late",
                "Submit a request with an earliestBeginDate, and add the notification without a trigger in its "
                    + "handler", severity: .warning)
        ]
    }

    private func word(_ word: String, _ index: Int) -> [ManifestProblem] {
        switch word {
        case "NWConnection", "NWListener", "NWBrowser":
            return missing(
                index, "Use URLSession or the package swift-nio: the module Network has only NWPathMonitor")
        case "usesInterfaceType" where isFollowed(index, by: "(") && !asksForOther(after: index):
            return [
                problem(
                    index,
                    "'usesInterfaceType' is true for '.other' only, because the host does not know "
                        + "what a network is made of",
                    "Ask isExpensive instead of '.cellular', and '!isExpensive' instead of '.wifi'",
                    severity: .warning)
            ]
        case "UNLocationNotificationTrigger", "UNNotificationServiceExtension":
            return missing(
                index, "Put it behind '#if os(iOS)': Linux has no location and no extensions of apps")
        case "UNTimeIntervalNotificationTrigger", "UNCalendarNotificationTrigger":
            return lateNotification(word, index)
        case "UIViewController", "UIHostingController", "UIStoryboard":
            return missing(
                index, "Keep windows and views out of the plugin's target, or put them behind '#if os(iOS)'")
        case let view where Self.views.contains(view) && imported.contains("SwiftUI") && isCalled(index):
            return missing(
                index,
                "Keep views out of the plugin's target, or put them behind '#if os(iOS)': a scene here needs "
                    + "only 'WindowGroup { EmptyView() }'")
        case "String" where isFollowed(index, by: "(") && label(after: index) == "localized":
            return [
                problem(
                    index,
                    "'String(localized:)' is an error on Linux, whose Foundation has no such initializer",
                    "Write the text itself, or 'NSLocalizedString(key, comment: \"\")', which reads the bundle's files"
                )
            ]
        case "autoreleasepool" where isFollowed(index, by: "{"):
            return missing(index, "Remove it, and keep its contents: Linux has no Objective-C")
        case "publisher" where isMethod(index) && label(after: index) == "for":
            return [
                problem(
                    index, "'publisher(for:)' is an error on Linux, which has no Combine",
                    "Write 'for await notification in center.notifications(named: name)', which BackgroundTasks, UIKit "
                        + "and SwiftUI add, or use 'addObserver(forName:object:queue:using:)'")
            ]
        case "background" where sessions.names.isBackground(index):
            return [backgroundSession(index)].compactMap(\.self)
        default:
            return sessions.problems(word, index)
        }
    }

    /// Views of SwiftUI that the SDK does not have; it has Text and EmptyView, which show nothing.
    private static let views: Set = [
        "AsyncImage", "Button", "Chart", "Color", "DatePicker", "DisclosureGroup", "Divider", "ForEach",
        "Form",
        "Gauge", "GeometryReader", "Grid", "GroupBox", "HStack", "Image", "Label", "LazyHStack", "LazyVGrid",
        "LazyVStack", "Link", "List", "Menu", "NavigationLink", "NavigationSplitView", "NavigationStack",
        "NavigationView", "Picker", "ProgressView", "ScrollView", "Section", "SecureField", "Slider",
        "Spacer",
        "Stepper", "TabView", "TextEditor", "TextField", "TimelineView", "Toggle", "VStack", "ZStack",
    ]

    /// Whether a name is followed by arguments or a closure, and so makes a value.
    private func isCalled(_ index: Int) -> Bool {
        isFollowed(index, by: "(") || isFollowed(index, by: "{")
    }

    /// What a background session needs.
    private func backgroundSession(_ index: Int) -> ManifestProblem? {
        if imported.contains("FoundationNetworking") {
            return problem(
                index,
                "in a file that imports FoundationNetworking, the delegates of a background session are "
                    + "those of Foundation, or ambiguous",
                "Import BackgroundTasks, UIKit or SwiftUI instead, which contain it with the trait "
                    + "BackgroundTransfers")
        }
        return parts.missing.map { problem(index, $0.finding, $0.remedy, severity: .warning) }
    }

    private func missing(_ index: Int, _ remedy: String) -> [ManifestProblem] {
        guard case .word(let name) = tokens[index].kind, index == 0 || !tokens[index - 1].isSign(".") else {
            return []
        }
        return [problem(index, "'\(name)' does not exist on Linux", remedy)]
    }

    private func isMethod(_ index: Int) -> Bool {
        index > 0 && tokens[index - 1].isSign(".") && isFollowed(index, by: "(")
    }

    private func isFollowed(_ index: Int, by sign: Character) -> Bool {
        index + 1 < tokens.count && tokens[index + 1].isSign(sign)
    }

    /// Whether the only argument of a call is `.other`.
    private func asksForOther(after index: Int) -> Bool {
        index + 3 < tokens.count && tokens[index + 2].isSign(".") && tokens[index + 3].word == "other"
    }

    /// The label of a call's first argument.
    private func label(after index: Int) -> String? {
        guard index + 3 < tokens.count, tokens[index + 3].isSign(":") else { return nil }
        return tokens[index + 2].word
    }

    private func problem(
        _ index: Int, _ finding: String, _ remedy: String, severity: ManifestProblem.Severity = .error
    ) -> ManifestProblem {
        let place = tokens[index].place
        return ManifestProblem(
            severity: severity, file: file.path, line: place.line, column: place.column, finding: finding,
            remedy: remedy)
    }
}

/// Checks the entry points of several files against each other.
enum EntryPoints {
    /// The problems of each `main.swift`: an `@main` in the same module, or a plugin that can't be built.
    static func problems(_ files: [SwiftFile]) -> [ManifestProblem] {
        let entries = files.map { (file: $0, traps: SourceTraps($0, ConditionalClause.all(in: $0.tokens))) }
        let marked = entries.compactMap { entry in entry.traps.main.map { (entry.file.path, $0.place.line) } }
        return entries.compactMap { entry in
            let path = entry.file.path
            guard path == "main.swift" || path.hasSuffix("/main.swift") else { return nil }
            if let (other, line) = marked.first(where: { isSameModule($0.0, path) }) {
                return ManifestProblem(
                    file: path, line: 1, column: 1,
                    finding: "a module can't have both main.swift and '@main', which is at \(other):\(line)",
                    remedy: "Keep '@main', and move the code of main.swift into its type")
            }
            guard let call = entry.traps.mainCall else { return nil }
            return ManifestProblem(
                file: path, line: call.place.line, column: call.place.column,
                finding: "SwiftPM can't build a plugin from a target that has a main.swift",
                remedy: "Remove the file, and mark the class of the app delegate with '@main'")
        }
    }

    /// Whether two files are probably in one module: the folder of one contains the other.
    private static func isSameModule(_ one: String, _ other: String) -> Bool {
        let folders = [one, other].map {
            $0.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        }
        return folders[0].starts(with: folders[1]) || folders[1].starts(with: folders[0])
    }
}
