import StrictFiles
import TaskModel

/// Finds bundles and identifiers that two manifests claim.
enum ManifestConflicts {
    /// A manifest with the file that it is in.
    typealias Entry = (file: String, read: ReadManifest)

    /// The problems of both sides of every conflict, by file.
    static func find(in entries: [Entry]) -> [String: [ManifestProblem]] {
        var problems: [String: [ManifestProblem]] = [:]
        for (index, left) in entries.enumerated() {
            for right in entries[(index + 1)...] {
                if left.read.manifest.bundle == right.read.manifest.bundle {
                    problems[left.file, default: []].append(sameBundle(left, right))
                    problems[right.file, default: []].append(sameBundle(right, left))
                }
                for (task, place) in zip(left.read.manifest.tasks, left.read.taskPlaces) {
                    for (other, otherPlace) in zip(right.read.manifest.tasks, right.read.taskPlaces)
                    where overlap(task.pattern, other.pattern) {
                        problems[left.file, default: []].append(
                            problem(left.file, place, task.pattern, other.pattern, right.file, otherPlace))
                        problems[right.file, default: []].append(
                            problem(right.file, otherPlace, other.pattern, task.pattern, left.file, place))
                    }
                }
            }
        }
        return problems
    }

    private static func sameBundle(_ one: Entry, _ other: Entry) -> ManifestProblem {
        ManifestProblem(
            file: one.file, line: one.read.bundlePlace?.line, column: one.read.bundlePlace?.column,
            finding:
                "the bundle '\(one.read.manifest.bundle)' also has a manifest in \(other.file); neither is used",
            remedy: "Put all tasks of a bundle in one file")
    }

    /// Whether both permit the same identifier in the same way.
    ///
    /// An exact identifier wins over a wildcard inside one manifest, but another bundle's wildcard must not
    /// reach it.
    private static func overlap(_ left: IdentifierPattern, _ right: IdentifierPattern) -> Bool {
        if left == right { return true }
        switch (left.isWildcard, right.isWildcard) {
        case (false, false): return false
        case (true, false): return left.matches(right.base)
        case (false, true): return right.matches(left.base)
        case (true, true): return left.matches(right.base) || right.matches(left.base)
        }
    }

    private static func problem(
        _ file: String, _ place: Place, _ pattern: IdentifierPattern, _ other: IdentifierPattern,
        _ otherFile: String,
        _ otherPlace: Place
    ) -> ManifestProblem {
        ManifestProblem(
            file: file, line: place.line, column: place.column,
            finding:
                "\(otherFile):\(otherPlace.line) also claims '\(pattern)', as '\(other)'; neither is used",
            remedy: "Remove one of them")
    }
}
