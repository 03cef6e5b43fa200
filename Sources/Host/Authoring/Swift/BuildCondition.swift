/// Evaluates the condition of an `#if` for one platform; the result `nil` means "unknown".
struct BuildCondition {
    /// The platform for which a condition is evaluated.
    enum Platform {
        /// A plugin's build on Linux, with the modules of the SDK.
        case linux
        /// An app's build for an iPhone.
        case iPhone
    }

    /// Modules that exist on Linux with the SDK; a module in neither list is unknown.
    private static let onLinux: Set = [
        "BackgroundTasks", "SwiftUI", "UIKit", "os", "OSLog", "Foundation", "FoundationEssentials",
        "FoundationNetworking", "FoundationXML", "Dispatch", "Glibc", "Observation", "Synchronization",
        "BackgroundTasksTesting", "UserNotifications", "Network",
    ]
    /// Modules that do not exist on Linux.
    private static let notOnLinux = AppleModules.missing.union(["Musl", "WinSDK", "Android"])

    private var words: [Substring]
    private let platform: Platform

    private init(_ text: String, _ platform: Platform) {
        var words: [Substring] = []
        var rest = Substring(text)
        while let first = rest.first {
            if first.isWhitespace {
                rest = rest.dropFirst()
            } else if first.isLetter || first.isNumber || first == "_" || first == "." {
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
                words.append(word)
                rest = rest.dropFirst(word.count)
            } else {
                let count = ["&&", "||", ">=", "<=", "=="].contains { rest.hasPrefix($0) } ? 2 : 1
                words.append(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
        }
        self.words = words.reversed()
        self.platform = platform
    }

    /// Evaluates the text of a condition.
    ///
    /// - Returns: Whether the condition is true; `nil` if this type can't know.
    static func holds(_ text: String, on platform: Platform) -> Bool? {
        var condition = Self(text, platform)
        return condition.either()
    }

    private mutating func take(_ word: String) -> Bool {
        guard words.last.map(String.init) == word else { return false }
        words.removeLast()
        return true
    }

    private mutating func either() -> Bool? {
        var result = both()
        while take("||") {
            let right = both()
            result = result == true || right == true ? true : result == false && right == false ? false : nil
        }
        return result
    }

    private mutating func both() -> Bool? {
        var result = one()
        while take("&&") {
            let right = one()
            result = result == false || right == false ? false : result == true && right == true ? true : nil
        }
        return result
    }

    private mutating func one() -> Bool? {
        if take("!") { return one().map { !$0 } }
        if take("(") {
            let result = either()
            _ = take(")")
            return result
        }
        guard let name = words.popLast() else { return nil }
        guard take("(") else { return name == "true" ? true : name == "false" ? false : nil }
        var arguments: [Substring] = []
        while let word = words.popLast(), word != ")" { arguments.append(word) }
        return answer(String(name), String(arguments.first ?? ""))
    }

    private func answer(_ question: String, _ argument: String) -> Bool? {
        switch (question, platform) {
        case ("os", .linux): argument == "Linux"
        case ("os", .iPhone): argument == "iOS"
        case ("targetEnvironment", _): false
        case ("canImport", .linux):
            Self.onLinux.contains(argument) ? true : Self.notOnLinux.contains(argument) ? false : nil
        case ("canImport", .iPhone): true
        case ("swift", _), ("compiler", _): nil
        default: nil
        }
    }
}
