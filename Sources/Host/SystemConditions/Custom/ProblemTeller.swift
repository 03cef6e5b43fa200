import Synchronization

/// Reports why a custom condition has no value, once for each new cause.
final class ProblemTeller: Sendable {
    private let name: String
    private let tell: @Sendable (String) -> Void
    private let last = Mutex<String?>(nil)

    init(name: String, tell: @escaping @Sendable (String) -> Void) {
        self.name = name
        self.tell = tell
    }

    /// Records the cause; `nil` means that the condition has a value.
    func note(_ finding: String?) {
        let isNew = last.withLock { last in
            defer { last = finding }
            return finding != last
        }
        if isNew, let finding { tell("condition \(name) is unknown: \(finding)") }
    }
}
