import StrictFiles
import TaskModel

/// Finds bundles and identifiers that several manifests declare.
enum ManifestConflicts {
    /// A manifest, with the path of its file.
    typealias Entry = (file: String, read: ReadManifest)

    /// The declaration of one task, as indices: of the entry, and of the task in its manifest.
    private typealias Claim = (entry: Int, task: Int)

    /// How many conflicts are reported for each task and bundle.
    ///
    /// A directory that was copied into itself has a conflict for each pair of files, and the first ones
    /// suffice.
    static let mostOthers = 8

    /// Finds all conflicts, by file; each conflict is reported for both files.
    static func find(in entries: [Entry]) -> [String: [ManifestProblem]] {
        var looks = 0
        return find(in: entries, looks: &looks)
    }

    /// Finds all conflicts, and counts the lookups of bundles and identifiers; for tests.
    ///
    /// Inside one manifest, an exact identifier takes precedence over a wildcard. A wildcard of another
    /// bundle must not match it at all. Therefore, each identifier is looked up as it is, and once for each
    /// wildcard that could match it. The number of lookups does not depend on the number of manifests with
    /// wildcards.
    static func find(
        in entries: [Entry], mostOthers: Int = mostOthers, looks: inout Int
    ) -> [String: [ManifestProblem]] {
        var report = Report(entries: entries, mostOthers: mostOthers)
        var bundles: [BundleIdentifier: [Int]] = [:]
        var exact: [String: [Claim]] = [:]
        var wildcards: [String: [Claim]] = [:]
        for (index, entry) in entries.enumerated() {
            bundles[entry.read.manifest.bundle, default: []].append(index)
            for (number, task) in entry.read.manifest.tasks.enumerated() {
                let name = task.pattern.base.rawValue
                if task.pattern.isWildcard {
                    wildcards[name, default: []].append((index, number))
                } else {
                    exact[name, default: []].append((index, number))
                }
            }
        }
        for (index, entry) in entries.enumerated() {
            looks += 1
            for other in (bundles[entry.read.manifest.bundle] ?? []).lazy.filter({ $0 != index })
                .prefix(mostOthers)
            {
                report.problems[entry.file, default: []].append(sameBundle(entry, entries[other]))
            }
            for (number, task) in entry.read.manifest.tasks.enumerated() {
                let name = task.pattern.base.rawValue
                looks += 1
                let same = (task.pattern.isWildcard ? wildcards[name] : exact[name]) ?? []
                report.add((index, number), against: same)
                if wildcards.isEmpty { continue }
                for prefix in prefixes(of: name) {
                    looks += 1
                    guard let broader = wildcards[prefix] else { continue }
                    report.add((index, number), against: broader)
                    for claim in broader { report.add(claim, against: [(index, number)]) }
                }
            }
        }
        return report.problems
    }

    /// The conflicts that were found so far.
    private struct Report {
        let entries: [Entry]
        let mostOthers: Int
        var problems: [String: [ManifestProblem]] = [:]
        /// How many conflicts were reported for each task: by entry, then by task.
        private var counts: [Int: [Int: Int]] = [:]

        init(entries: [Entry], mostOthers: Int) {
            self.entries = entries
            self.mostOthers = mostOthers
        }

        /// Adds a conflict with each of the other manifests' declarations, up to the limit.
        mutating func add(_ claim: Claim, against others: [Claim]) {
            let entry = entries[claim.entry]
            for other in others where other.entry != claim.entry {
                let count = counts[claim.entry]?[claim.task] ?? 0
                if count >= mostOthers { return }
                counts[claim.entry, default: [:]][claim.task] = count + 1
                let otherEntry = entries[other.entry]
                problems[entry.file, default: []].append(
                    problem(
                        entry.file, entry.read.taskPlaces[claim.task],
                        entry.read.manifest.tasks[claim.task].pattern,
                        otherEntry.read.manifest.tasks[other.task].pattern, otherEntry.file,
                        otherEntry.read.taskPlaces[other.task]))
            }
        }
    }

    /// The wildcards that match a name, without their `.*`: the text before each dot.
    private static func prefixes(of name: String) -> [String] {
        name.utf8.indices.compactMap { index in
            // A wildcard needs at least one byte after the dot.
            guard name.utf8[index] == UInt8(ascii: "."), index > name.startIndex,
                name.utf8.index(after: index) < name.endIndex
            else { return nil }
            return String(name[..<index])
        }
    }

    private static func sameBundle(_ one: Entry, _ other: Entry) -> ManifestProblem {
        ManifestProblem(
            file: one.file, line: one.read.bundlePlace?.line, column: one.read.bundlePlace?.column,
            finding:
                "the bundle '\(one.read.manifest.bundle)' also has a manifest in \(other.file); neither manifest is used",
            remedy: "Put all tasks of a bundle in one file")
    }

    private static func problem(
        _ file: String, _ place: Place, _ pattern: IdentifierPattern, _ other: IdentifierPattern,
        _ otherFile: String,
        _ otherPlace: Place
    ) -> ManifestProblem {
        ManifestProblem(
            file: file, line: place.line, column: place.column,
            finding:
                "\(otherFile):\(otherPlace.line) also claims '\(pattern)', as '\(other)'; neither manifest is used",
            remedy: "Remove one of the two tasks")
    }
}
