import StrictFiles
import TaskModel

/// Finds the calls that a background session refuses, and files of downloads that are used too late.
struct SessionTraps {
    let names: SessionNames
    private let path: String
    private let tokens: [SwiftToken]
    private let hasBackgroundSession: Bool

    /// - Parameters:
    ///   - path: The path of the file.
    ///   - tokens: Its tokens that are compiled, without comments.
    init(_ path: String, _ tokens: [SwiftToken]) {
        (self.path, self.tokens) = (path, tokens)
        names = SessionNames(tokens)
        hasBackgroundSession = names.hasBackgroundSession
    }

    /// The problems of one word.
    func problems(_ word: String, _ index: Int) -> [ManifestProblem] {
        switch word {
        case "didFinishDownloadingTo":
            return lateUse(index)
        case "serverTrust" where index > 0 && tokens[index - 1].isSign("."):
            return [
                warning(
                    index, "'serverTrust' is always nil on Linux, where no session asks about certificates",
                    "Add the server's certificate to those of the system, or put the code behind "
                        + "'#if canImport(Security)'")
            ]
        default:
            guard hasBackgroundSession, index > 0, tokens[index - 1].isSign("."), index + 1 < tokens.count,
                tokens[index + 1].isSign("(")
            else { return [] }
            return call(word, index)
        }
    }

    /// Calls that a background session refuses on Apple's systems, too.
    private func call(_ word: String, _ index: Int) -> [ManifestProblem] {
        if word == "dataTaskPublisher" {
            return [
                problem(
                    index, "a background session has no publishers, and Linux has no Combine",
                    "Use a download task, and give the session a URLSessionDownloadDelegate")
            ]
        }
        guard ["dataTask", "data", "downloadTask", "uploadTask", "download", "upload"].contains(word),
            names.isCalledOnBackgroundSession(index)
        else { return [] }
        let (labels, end) = labels(of: index)
        let isTask = word.hasSuffix("Task")
        switch word {
        case "dataTask", "data":
            guard ["with", "for", "from"].contains(labels.first) else { return [] }
            return [
                warning(
                    index, "a background session makes no data tasks",
                    "Use a download task, or a session of the configuration '.default'")
            ]
        case "uploadTask", "upload":
            guard !labels.contains("from"), labels.first != "withStreamedRequest" else {
                return [
                    warning(
                        index, "an upload task in a background session must be from a file",
                        "Write the data to a file, and call uploadTask(with:fromFile:)")
                ]
            }
        default: break
        }
        let hasClosure = end < tokens.count && tokens[end].isSign("{")
        guard !isTask || hasClosure || labels.contains("completionHandler") else { return [] }
        return [
            warning(
                index, "a background session supports no \(isTask ? "completion handlers" : "async methods")",
                "Give the session a URLSessionDownloadDelegate, whose "
                    + "urlSession(_:downloadTask:didFinishDownloadingTo:) gets the file")
        ]
    }

    /// A closure of the delegate's method that uses the downloaded file when the method has returned.
    private func lateUse(_ index: Int) -> [ManifestProblem] {
        guard index + 2 < tokens.count, let name = tokens[index + 1].word, tokens[index + 2].isSign(":"),
            let body = tokens[index...].firstIndex(where: { $0.isSign("{") })
        else { return [] }
        var next = body
        let end = self.end(from: body)
        while next < end {
            guard isLater(next), let closure = closure(of: next) else {
                next += 1
                continue
            }
            let range = closure..<self.end(from: closure)
            if let use = range.first(where: { tokens[$0].word == name && !tokens[$0 - 1].isSign(".") }) {
                return [
                    warning(
                        use, "this closure runs too late: the file of '\(name)' was removed before",
                        "Move the file in the method itself, because it is removed when the method returns")
                ]
            }
            next = range.upperBound
        }
        return []
    }

    /// Whether a name begins a call whose closure runs later.
    private func isLater(_ index: Int) -> Bool {
        guard let word = tokens[index].word, index + 1 < tokens.count else { return false }
        let isMethod = tokens[index - 1].isSign(".")
        let isCall = tokens[index + 1].isSign("(") || tokens[index + 1].isSign("{")
        let names: Set = ["async", "asyncAfter", "addOperation", "detached", "perform"]
        return isCall && (isMethod ? names.contains(word) : word == "Task")
    }

    /// The bracket of the closure that a call is given, in its brackets or after them.
    private func closure(of call: Int) -> Int? {
        guard tokens[call + 1].isSign("(") else { return call + 1 }
        let end = end(from: call + 1)
        if let inside = tokens[call..<end].firstIndex(where: { $0.isSign("{") }) { return inside }
        return end < tokens.count && tokens[end].isSign("{") ? end : nil
    }

    // MARK: Brackets

    /// The labels of a call's arguments, and the index after its closing bracket.
    private func labels(of call: Int) -> (labels: [String], end: Int) {
        var labels: [String] = []
        var depth = 0
        for index in (call + 1)..<tokens.count {
            if tokens[index].isOpening { depth += 1 }
            if tokens[index].isClosing { depth -= 1 }
            if depth == 0 { return (labels, index + 1) }
            let isFirst = tokens[index - 1].isSign("(") || tokens[index - 1].isSign(",")
            if depth == 1, isFirst, let word = tokens[index].word, index + 1 < tokens.count,
                tokens[index + 1].isSign(":")
            {
                labels.append(word)
            }
        }
        return (labels, tokens.count)
    }

    /// The index after the bracket that closes the one at an index.
    private func end(from begin: Int) -> Int {
        var depth = 0
        for index in begin..<tokens.count {
            if tokens[index].isOpening { depth += 1 }
            if tokens[index].isClosing { depth -= 1 }
            if depth == 0 { return index + 1 }
        }
        return tokens.count
    }

    private func warning(_ index: Int, _ finding: String, _ remedy: String) -> ManifestProblem {
        problem(index, finding, remedy, severity: .warning)
    }

    private func problem(
        _ index: Int, _ finding: String, _ remedy: String, severity: ManifestProblem.Severity = .error
    ) -> ManifestProblem {
        let place = tokens[index].place
        return ManifestProblem(
            severity: severity, file: path, line: place.line, column: place.column, finding: finding,
            remedy: remedy)
    }
}
