import ControlWire
import LinuxSystem
import TaskModel

/// The smallest `sandbox:` with which a bundle's learning launches would have worked as they did.
///
/// It never permits more than the present manifest, whatever the launches did. What was refused is listed
/// apart, because only a person can decide whether a plugin should get it.
struct SandboxAdvice: Codable, Equatable {
    let bundle: BundleIdentifier
    /// The learning launches that were read, newest first.
    let launches: [LaunchID]
    /// What the launches used.
    let sandbox: SandboxDeclaration
    /// What the manifest grants and no launch used, such as `read: [/srv]`.
    let unused: [String]
    /// What was refused.
    let refused: [ObservedCalls.Call]
    /// What was used and is inside no path of the manifest, for example because a link leads there.
    let unmatched: [ObservedCalls.Call]
    /// Whether the record of a launch had no room for all its calls.
    let isIncomplete: Bool

    /// Makes the advice; `granted` is what the manifest grants now, or `nil` if an older host does not say
    /// it.
    init(
        of bundle: BundleIdentifier, granted: SandboxDeclaration?,
        calls: [(launch: LaunchID, calls: ObservedCalls)]
    ) {
        let learned = calls.filter(\.calls.isComplete)
        let all = learned.flatMap(\.calls.calls)
        let used = all.filter { !$0.isRefused }
        let granted = granted ?? SandboxDeclaration()
        self.bundle = bundle
        launches = learned.map(\.launch)
        isIncomplete = learned.contains { $0.calls.further > 0 }
        refused = Self.unique(all.filter(\.isRefused))
        var sandbox = SandboxDeclaration()
        let ports = Set(used.compactMap { $0.use == .connect ? $0.port : nil }).sorted()
        switch granted.network {
        case nil: break
        case .all: if !ports.isEmpty { sandbox.network = .connect(ports: ports) }
        case .connect(let permitted):
            let both = ports.filter(permitted.contains)
            if !both.isEmpty { sandbox.network = .connect(ports: both) }
        }
        sandbox.subprocesses =
            granted.subprocesses
            && used.contains { $0.use == .execute || ["fork", "vfork", "clone"].contains($0.name) }
        let devices = Set(Self.files(used).map(\.path).filter { $0.hasPrefix("/dev/") })
        sandbox.devices = granted.devices.filter(devices.contains)
        sandbox.gpu = granted.gpu == true && devices.contains { $0.hasPrefix("/dev/dri/") } ? true : nil
        let files = Self.files(used).filter { !devices.contains($0.path) }
        let writes = Self.writes(files.filter { $0.call.use == .write }, granted)
        sandbox.write = writes.grants
        let written = GrantedPaths(writes.grants.map(\.path))
        let reads = Self.reads(
            files.filter { $0.call.use == .read && written.innermost(containing: $0.path) == nil }, granted,
            refused: Self.files(refused).map(\.path))
        sandbox.read = reads.grants
        // No call shows whether a variable of the environment was read.
        sandbox.environment = granted.environment
        self.sandbox = sandbox
        unmatched = Self.unique(writes.unmatched + reads.unmatched)
        unused = Self.unused(granted, used, reads.kept, writes.kept)
    }

    // MARK: Paths

    /// A use of a file, with its path without `..`.
    private typealias FileUse = (call: ObservedCalls.Call, path: String)

    private static func files(_ calls: [ObservedCalls.Call]) -> [FileUse] {
        calls.compactMap { call in
            guard call.use == .read || call.use == .write, let path = call.subject, path.hasPrefix("/") else {
                return nil
            }
            return (call, PathWalk.normalized(path))
        }
    }

    /// The write grants that some uses need: inside those of the manifest, or these themselves.
    private static func writes(
        _ uses: [FileUse], _ granted: SandboxDeclaration
    ) -> (grants: [WriteGrant], kept: Set<String>, unmatched: [ObservedCalls.Call]) {
        let paths = GrantedPaths(granted.write.map(\.path))
        var (directories, kept): (Set<String>, Set<String>) = ([], [])
        var unmatched: [ObservedCalls.Call] = []
        for (call, path) in uses {
            if let grant = paths.innermost(containing: path) {
                // A task can use the granted directory itself, for example with mkdir or O_TMPFILE.
                let parent = ObservedCalls.Call.parent(of: path)
                directories.insert(
                    PathWalk.isInside(parent, grant) && leadsInside(parent, grant) ? parent : grant)
            } else {
                let patterns = paths.patterns(matching: path)
                kept.formUnion(patterns)
                if patterns.isEmpty { unmatched.append(call) }
            }
        }
        if !unmatched.isEmpty { kept.formUnion(granted.write.map(\.path)) }
        let narrow = outermost(directories).map { directory in
            let creates = granted.write.contains {
                $0.create && !GrantedPaths.isPattern($0.path) && PathWalk.normalized($0.path) == directory
            }
            return WriteGrant(path: directory, create: creates)
        }
        let wide = granted.write.filter { kept.contains($0.path) }
        let inside = GrantedPaths(wide.map(\.path))
        return (narrow.filter { inside.innermost(containing: $0.path) == nil } + wide, kept, unmatched)
    }

    /// Whether a path inside a grant still is there when all links are followed.
    ///
    /// A task can put a link in the place of a directory that it used. Only what this process can't see, such
    /// as the directories of another machine, is taken as it is written.
    private static func leadsInside(_ path: String, _ grant: String) -> Bool {
        guard let real = try? PathWalk(path).realPath, let root = try? PathWalk(grant).realPath else {
            return true
        }
        return PathWalk.isInside(real, root)
    }

    /// The read grants that some uses need: inside those of the manifest, or these themselves.
    private static func reads(
        _ uses: [FileUse], _ granted: SandboxDeclaration, refused: [String]
    ) -> (grants: [String], kept: Set<String>, unmatched: [ObservedCalls.Call]) {
        // A write grant also permits reading.
        let paths = GrantedPaths(granted.read + granted.write.map(\.path))
        var (files, kept): (Set<String>, Set<String>) = ([], [])
        var unmatched: [ObservedCalls.Call] = []
        for (call, path) in uses {
            if let grant = paths.innermost(containing: path) {
                files.insert(leadsInside(path, grant) ? path : grant)
            } else {
                let patterns = paths.patterns(matching: path)
                kept.formUnion(patterns)
                if patterns.isEmpty { unmatched.append(call) }
            }
        }
        if !unmatched.isEmpty { kept.formUnion(granted.read) }
        // A directory stands for its files only if the manifest permits it, and nothing in it was refused.
        let narrow = gathered(files) { directory in
            paths.innermost(containing: directory) != nil
                && !refused.contains { PathWalk.isInside($0, directory) }
        }
        let wide = GrantedPaths(Array(kept))
        let grants = Set(narrow.filter { wide.innermost(containing: $0) == nil }).union(kept)
        return (grants.sorted(), kept, unmatched)
    }

    private static func unused(
        _ granted: SandboxDeclaration, _ used: [ObservedCalls.Call], _ keptReads: Set<String>,
        _ keptWrites: Set<String>
    ) -> [String] {
        var unused: [String] = []
        if granted.network != nil, !used.contains(where: { $0.use == .connect }) { unused.append("network") }
        if granted.subprocesses, !used.contains(where: { $0.use == .execute }) {
            unused.append("subprocesses: true")
        }
        let files = files(used)
        func isUsed(_ grant: String, _ uses: [FileUse]) -> Bool {
            let paths = GrantedPaths([grant])
            return uses.contains { paths.innermost(containing: $0.path) != nil }
        }
        for path in granted.read where !keptReads.contains(path) && !isUsed(path, files) {
            unused.append("read: [\(path)]")
        }
        let writes = files.filter { $0.call.use == .write }
        for grant in granted.write where !keptWrites.contains(grant.path) && !isUsed(grant.path, writes) {
            unused.append("write: [\(grant.path)]")
        }
        return unused
    }

    /// The paths without those that are inside another one, sorted.
    private static func outermost(_ paths: Set<String>) -> [String] {
        let sorted = paths.sorted()
        return sorted.filter { path in
            !sorted.contains { $0 != path && PathWalk.isInside(path, $0) }
        }
    }

    /// How many files of one directory become a grant of the directory.
    private static let filesOfDirectory = 4

    private static func gathered(_ files: Set<String>, where permits: (String) -> Bool) -> [String] {
        let byDirectory = Dictionary(grouping: files, by: ObservedCalls.Call.parent(of:))
        return outermost(
            Set(
                byDirectory.flatMap { directory, files in
                    files.count >= filesOfDirectory && permits(directory) ? [directory] : files
                }))
    }

    private static func unique(_ calls: [ObservedCalls.Call]) -> [ObservedCalls.Call] {
        var seen: Set<ObservedCalls.Call> = []
        return calls.filter { call in
            var plain = call
            plain.count = 1
            return seen.insert(plain).inserted
        }
    }

    // MARK: Text

    /// The advice as YAML, with comments about everything that a person must decide.
    var lines: [String] {
        guard !launches.isEmpty else {
            return [
                "# No launch of \(bundle) has recorded what it uses. First start each of its tasks this way:",
                "#   bgtask launch IDENTIFIER --learn --wait",
            ]
        }
        var lines = ["# What \(launches.map(\.description).joined(separator: ", ")) used:"]
        let entries = self.entries
        lines += entries.isEmpty ? ["sandbox: {}"] : ["sandbox:"] + entries.map { "  " + $0 }
        if !unused.isEmpty {
            lines += ["# Granted now; no recorded call used it:"] + unused.map { "#   " + $0 }
        }
        if !refused.isEmpty {
            lines +=
                ["# Refused, and not included; each of these grants would be new:"]
                + refused.map { "#   " + CallsText.refusal($0) }
        }
        if !unmatched.isEmpty {
            lines.append(
                "# Used, but inside no path of the manifest, so all its paths of that kind stay. "
                    + "A link leads there, or the manifest was another one:")
            lines += unmatched.map { "#   " + $0.summary }
        }
        if isIncomplete {
            lines.append(
                "# A launch made more different calls than its record has room for, so grants may be missing."
            )
        }
        return lines
    }

    private var entries: [String] {
        var entries: [String] = []
        if case .connect(let ports) = sandbox.network {
            entries.append("network: {connect: [\(ports.map(String.init).joined(separator: ", "))]}")
        }
        if !sandbox.read.isEmpty { entries.append("read: [\(Self.list(sandbox.read))]") }
        if !sandbox.write.isEmpty {
            let grants = sandbox.write.map { grant in
                grant.create ? "{path: \(Self.quoted(grant.path)), create: true}" : Self.quoted(grant.path)
            }
            entries.append("write: [\(grants.joined(separator: ", "))]")
        }
        if !sandbox.devices.isEmpty { entries.append("devices: [\(Self.list(sandbox.devices))]") }
        if sandbox.gpu == true { entries.append("gpu: true") }
        if !sandbox.environment.isEmpty { entries.append("environment: [\(Self.list(sandbox.environment))]") }
        if sandbox.subprocesses { entries.append("subprocesses: true") }
        return entries
    }

    private static func list(_ texts: [String]) -> String { texts.map(quoted).joined(separator: ", ") }

    /// The text as a YAML scalar: plain if that is safe, else in single quotes.
    static func quoted(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                    || "/._-+".unicodeScalars.contains(scalar))
        }
        let isSafe = isPlain && text.first.map { $0 == "/" || $0.isLetter } == true
        return isSafe ? text : "'" + text.replacing("'", with: "''") + "'"
    }
}
