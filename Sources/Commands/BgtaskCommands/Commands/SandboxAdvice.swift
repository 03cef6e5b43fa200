import ControlWire
import TaskModel

/// The smallest `sandbox:` with which a bundle's learning launches would have worked as they did.
///
/// It contains only what the present manifest grants already. What was refused is listed apart, because only
/// a person can decide whether a plugin should get it.
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
        if !ports.isEmpty, granted.network != nil { sandbox.network = .connect(ports: ports) }
        sandbox.subprocesses =
            granted.subprocesses
            && used.contains { $0.use == .execute || ["fork", "vfork", "clone"].contains($0.name) }
        let writes = Self.paths(used, .write)
        let devices = Set((writes + Self.paths(used, .read)).filter { $0.hasPrefix("/dev/") })
        sandbox.devices = granted.devices.filter(devices.contains)
        sandbox.gpu = granted.gpu == true && devices.contains { $0.hasPrefix("/dev/dri/") } ? true : nil
        let directories = Self.outermost(
            writes.filter { !devices.contains($0) }.map(ObservedCalls.Call.parent(of:)))
        sandbox.write = directories.map { directory in
            let creates = granted.write.contains { $0.create && $0.path == directory }
            return WriteGrant(path: directory, create: creates)
        }
        let reads = Self.paths(used, .read).filter { path in
            !devices.contains(path) && !directories.contains { Self.isInside(path, $0) }
        }
        sandbox.read = Self.gathered(reads)
        // No call shows whether a variable of the environment was read.
        sandbox.environment = granted.environment
        self.sandbox = sandbox
        unused = Self.unused(granted, used)
    }

    private static func unused(_ granted: SandboxDeclaration, _ used: [ObservedCalls.Call]) -> [String] {
        var unused: [String] = []
        if granted.network != nil, !used.contains(where: { $0.use == .connect }) { unused.append("network") }
        if granted.subprocesses, !used.contains(where: { $0.use == .execute }) {
            unused.append("subprocesses: true")
        }
        // A path with `~` or a value of the payload can't be compared with the paths of the calls.
        let plain = { (path: String) in path.hasPrefix("/") && !path.contains("${") }
        let all = used.compactMap(\.subject)
        for path in granted.read where plain(path) && !all.contains(where: { isInside($0, path) }) {
            unused.append("read: [\(path)]")
        }
        for grant in granted.write
        where plain(grant.path) && !paths(used, .write).contains(where: { isInside($0, grant.path) }) {
            unused.append("write: [\(grant.path)]")
        }
        return unused
    }

    // MARK: Paths

    private static func paths(_ calls: [ObservedCalls.Call], _ use: ObservedCalls.Use) -> [String] {
        calls.compactMap { $0.use == use ? $0.subject : nil }
    }

    private static func isInside(_ path: String, _ directory: String) -> Bool {
        path == directory || path.hasPrefix(directory.hasSuffix("/") ? directory : directory + "/")
    }

    /// The paths without those that are inside another one, sorted.
    private static func outermost(_ paths: [String]) -> [String] {
        let sorted = Set(paths).sorted()
        return sorted.filter { path in !sorted.contains { $0 != path && isInside(path, $0) } }
    }

    /// How many files of one directory become a grant of the directory.
    private static let filesOfDirectory = 4

    private static func gathered(_ files: [String]) -> [String] {
        let byDirectory = Dictionary(grouping: Set(files), by: ObservedCalls.Call.parent(of:))
        return outermost(
            byDirectory.flatMap { directory, files in
                files.count >= filesOfDirectory && directory != "/" ? [directory] : files
            })
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
            lines += ["# Refused, and not included:"] + refused.map { "#   " + CallsText.refusal($0) }
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
