import LinuxSystem
import TaskModel

/// What a bundle's processes are executed from, so that `Bundle.main` answers as on iOS.
///
/// `NAME.app` with an `Info.plist` made from the manifest and the runner beside it: Foundation looks for the
/// one where it finds the other, by `/proc/self/exe`. A symbolic link does not do: the kernel shows what it
/// leads to.
struct AppDirectory: Sendable, Equatable {
    /// The runner's name in it, which `CFBundleExecutable` has.
    static let executableName = "bgtask-runner"

    /// `STATE/apps/BUNDLE/NAME.app`.
    let path: String
    private let propertyList: [UInt8]
    private let runner: FileIdentity

    /// What should be there; nothing is touched.
    ///
    /// - Parameters:
    ///   - manifest: What the property list is made from.
    ///   - directory: The bundle's own, of no other use.
    ///   - runner: The runner's path.
    /// - Throws: The runner's `stat` that failed.
    init(_ manifest: Manifest, in directory: String, runner: String) throws(SystemCallError) {
        let name = Self.name(of: manifest.bundle)
        path = "\(directory)/\(name).app"
        propertyList = Array(Self.propertyList(of: manifest, named: name).utf8)
        self.runner = try FileIdentity(of: runner)
    }

    /// The program to execute.
    var executable: String { "\(path)/\(Self.executableName)" }

    /// Whether one that was written holds what this one would.
    func isSame(as other: AppDirectory) -> Bool {
        path == other.path && propertyList == other.propertyList && runner.hasSameContents(as: other.runner)
    }

    /// Writes both files, each in one piece; a process that runs keeps the one that it was executed from.
    ///
    /// - Throws: The call that failed.
    func write(linking runner: String) throws(SystemCallError) {
        // Others may read and execute, where a task gets a user of its own; only the host may write.
        try DirectoryTree.make(path, mode: 0o755)
        try replace("Info.plist") { path throws(SystemCallError) in
            try FileContents.create(path, propertyList, mode: 0o444)
        }
        try replace(Self.executableName) { path throws(SystemCallError) in
            do {
                try FileContents.link(runner, to: path)
            } catch {
                // Another file system, another owner, or too many links: a copy does as well.
                try FileContents.create(path, FileContents.read(runner), mode: 0o555)
            }
        }
    }

    private func replace(
        _ name: String, _ make: (String) throws(SystemCallError) -> Void
    ) throws(SystemCallError) {
        let temporary = "\(path)/.\(name).new"
        try DirectoryTree.remove(temporary)
        try make(temporary)
        guard try DirectoryTree.rename(temporary, to: "\(path)/\(name)") else {
            // Another program has put a directory there.
            try DirectoryTree.remove("\(path)/\(name)")
            _ = try DirectoryTree.rename(temporary, to: "\(path)/\(name)")
            return
        }
        // Renaming one link of a file over another one of the same file does nothing, and leaves both.
        try DirectoryTree.remove(temporary)
    }

    /// The last label of the bundle's id; identifiers may be `..`, labels have no dot.
    static func name(of bundle: BundleIdentifier) -> String {
        let label = bundle.rawValue.split(separator: ".", omittingEmptySubsequences: true).last
        return label.map(String.init) ?? "App"
    }

    /// The XML property list; identifiers and modes need no escapes.
    static func propertyList(of manifest: Manifest, named name: String) -> String {
        func entry(_ key: String, _ value: String) -> String {
            "    <key>\(key)</key>\n    <string>\(value)</string>\n"
        }
        func list(_ key: String, _ values: [String]) -> String {
            "    <key>\(key)</key>\n    <array>\n"
                + values.map { "        <string>\($0)</string>\n" }.joined() + "    </array>\n"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>

            """
                + entry("CFBundleInfoDictionaryVersion", "6.0")
                + entry("CFBundlePackageType", "APPL")
                + entry("CFBundleIdentifier", manifest.bundle.rawValue)
                + entry("CFBundleName", name)
                + entry("CFBundleExecutable", executableName)
                + list("BGTaskSchedulerPermittedIdentifiers", manifest.tasks.map(\.pattern.description))
                + list("UIBackgroundModes", manifest.modes.map(\.rawValue).sorted())
                + "</dict>\n</plist>\n"
    }
}
