import LinuxSystem
import TaskModel

/// The app directory of a bundle, from which its processes are executed, so that `Bundle.main` works as on
/// iOS.
///
/// The directory `NAME.app` contains an `Info.plist`, which is made from the manifest, and the runner.
/// Foundation finds the property list beside the executable, which it finds by `/proc/self/exe`. So the
/// runner must not be a symbolic link, because the kernel would show the target of the link.
struct AppDirectory: Sendable, Equatable {
    /// The name of the runner in the directory, which is also the value of `CFBundleExecutable`.
    static let executableName = "bgtask-runner"

    /// The path of the directory: `STATE/apps/BUNDLE/NAME.app`.
    let path: String
    private let propertyList: [UInt8]
    private let runner: FileIdentity

    /// Describes the directory as it should be; writes no files.
    ///
    /// - Parameters:
    ///   - manifest: The manifest from which the property list is made.
    ///   - directory: The parent directory, which is only for this bundle.
    ///   - runner: The path of the installed runner.
    /// - Throws: The system call that failed, if the runner can't be examined.
    init(_ manifest: Manifest, in directory: String, runner: String) throws(SystemCallError) {
        let name = Self.name(of: manifest.bundle)
        path = "\(directory)/\(name).app"
        propertyList = Array(Self.propertyList(of: manifest, named: name).utf8)
        self.runner = try FileIdentity(of: runner)
    }

    /// The path of the program to execute.
    var executable: String { "\(path)/\(Self.executableName)" }

    /// Whether another app directory has the same path and contents.
    func isSame(as other: AppDirectory) -> Bool {
        path == other.path && propertyList == other.propertyList && runner.hasSameContents(as: other.runner)
    }

    /// Replaces both files, each by a rename, so that no process sees half a file.
    ///
    /// A process that runs already keeps the files with which it started.
    ///
    /// - Throws: The system call that failed.
    func write(linking runner: String) throws(SystemCallError) {
        // Tasks may run as another user, which must be able to read and execute the files. Only the host may
        // write them.
        try DirectoryTree.make(path, mode: 0o755)
        try replace("Info.plist") { path throws(SystemCallError) in
            try FileContents.create(path, propertyList, mode: 0o444)
        }
        try replace(Self.executableName) { path throws(SystemCallError) in
            do {
                try FileContents.link(runner, to: path)
            } catch {
                // A hard link is not possible, for example on another file system; a copy also works.
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
            // Another program created a directory with this name.
            try DirectoryTree.remove("\(path)/\(name)")
            _ = try DirectoryTree.rename(temporary, to: "\(path)/\(name)")
            return
        }
        // If both names are links to the same file, the rename does nothing, and the temporary name remains.
        try DirectoryTree.remove(temporary)
    }

    /// The last part of the bundle identifier that is not empty; `App` if there is none.
    ///
    /// The whole identifier could be `..`, but its parts contain no dot.
    static func name(of bundle: BundleIdentifier) -> String {
        let label = bundle.rawValue.split(separator: ".", omittingEmptySubsequences: true).last
        return label.map(String.init) ?? "App"
    }

    /// The XML property list; identifiers and modes contain no characters that XML must escape.
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
