import HandlerRegistry
import LinuxSystem
import TaskModel

/// What a plugin has of the two parts that a background session needs besides its code.
struct SessionParts {
    /// Whether its package asks for the trait of the SDK.
    var hasTrait = false
    /// Whether its manifest has a task that gets the events.
    var hasTask = false

    /// Looks for nothing.
    init() {}

    /// Looks into the manifests, and into the `Package.swift` in the directory of the sources or the nearest
    /// one above it, at most three levels up.
    init(sources directory: String, _ declared: [DeclaredTask]) {
        hasTask = declared.contains { $0.task.kind == .transferEvents }
        var path = (try? DirectoryTree.realPath(of: directory)) ?? directory
        for _ in 0...3 {
            if let bytes = try? FileContents.read(path + "/Package.swift", limit: 1 << 20) {
                hasTrait = Self.asksForTrait(String(decoding: bytes, as: UTF8.self))
                return
            }
            guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
            path = String(path[..<slash])
        }
    }

    private static func asksForTrait(_ package: String) -> Bool {
        package.split(separator: "\n").contains { line in
            let comment = line.firstRange(of: "//")?.lowerBound ?? line.endIndex
            return line.prefix(upTo: comment).contains("\"BackgroundTransfers\"")
        }
    }

    /// What is missing, and what to write; `nil` if nothing is.
    var missing: (finding: String, remedy: String)? {
        let trait = "the trait BackgroundTransfers of the SDK"
        let task = "a task of the kind transferEvents in the manifest"
        let package = "Write '.package(path: ..., traits: [\"BackgroundTransfers\"])' in Package.swift"
        let manifest = "Add the task. If it is there, name the manifest to this command, too"
        let guide = "; see Documentation/PluginGuide.md"
        switch (hasTrait, hasTask) {
        case (true, true): return nil
        case (false, false): return ("a background session needs \(trait), and \(task)", package + guide)
        case (true, false): return ("a background session needs \(task)", manifest + guide)
        case (false, true): return ("a background session needs \(trait)", package + guide)
        }
    }
}
