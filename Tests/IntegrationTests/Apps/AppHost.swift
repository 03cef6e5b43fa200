import Foundation
import Testing

/// A host with one of the apps of `Tests/Fixtures/Apps` installed.
///
/// `make test` builds the apps; they are a package of their own, as a user's app would be.
final class AppHost {
    let host: HostProcess
    let app: String

    static let products = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures/Apps/.build/debug")

    /// Installs the app and starts the host.
    ///
    /// - Parameters:
    ///   - app: The fixture; `SceneApp` has the bundle `org.example.scene`.
    ///   - modes: The manifest's modes.
    ///   - tasks: The last label of each task, with its kind and its further manifest keys.
    ///   - extra: More keys of the manifest.
    ///   - settings: The host's configuration; see ``configure(_:)``.
    ///   - user: See ``HostProcess/user``.
    ///   - environment: Variables of the host's environment, in addition to the standard ones of tests.
    init(
        _ app: String, modes: String = "fetch, processing", tasks: [String: String], extra: String = "",
        settings: String = "", user: UInt32? = nil, environment: [String: String] = [:]
    ) throws {
        host = try HostProcess("--config-root", configuration.path)
        host.user = user
        host.environment.merge(environment) { $1 }
        try Self.write(settings, for: configuration)
        self.app = app
        let library = "lib\(app).so"
        let built = Self.products.appendingPathComponent(library)
        guard FileManager.default.fileExists(atPath: built.path) else {
            throw HostFailure(
                "\(built.path) is not built: run 'make test-packages'"
            )
        }
        try FileManager.default.copyItem(at: built, to: host.plugins.appendingPathComponent(library))
        let bundle = "org.example." + app.dropLast(3).lowercased()
        self.bundle = bundle
        let lines = tasks.sorted { $0.key < $1.key }.map {
            "  - {identifier: \(bundle).\($0.key), kind: \($0.value)}"
        }
        let manifest = """
            apiVersion: bgtask/v1
            bundle: \(bundle)
            library: \(library)
            modes: [\(modes)]
            tasks:
            \(lines.joined(separator: "\n"))
            \(extra)

            """
        try manifest.write(
            to: host.manifests.appendingPathComponent("app.yaml"), atomically: true, encoding: .utf8)
        try host.start()
        // After the installation, the launch code runs once, before any task.
        try host.wait("the app launch has ended") {
            try host.launches(of: bundle).first.map { $0["outcome"] is String } ?? false
        }
    }

    let bundle: String

    /// The directory in which the host looks for the administrator's files.
    private let configuration = FileManager.default.temporaryDirectory.appendingPathComponent(
        "configuration-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: configuration) }

    /// Replaces the host's configuration; the running host applies it.
    func configure(_ settings: String) throws { try Self.write(settings, for: configuration) }

    private static func write(_ settings: String, for root: URL) throws {
        let folder = root.appendingPathComponent("etc/bgtask")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        let new = folder.appendingPathComponent("new")
        try Data((settings + "\n").utf8).write(to: new)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: new.path)
        // The file is renamed into place, so that the host never reads an incomplete file.
        if rename(new.path, folder.appendingPathComponent("bgtaskd.yaml").path) != 0 {
            throw HostFailure("rename to \(folder.path)/bgtaskd.yaml")
        }
    }

    /// Waits until a line of the host's log about a launch contains a text.
    func hear(_ text: String, from id: String) throws {
        try host.wait("\(id) says '\(text)'") { lines(of: id).contains { $0.contains(text) } }
    }

    /// Waits for a launch of a task and returns the newest one.
    func newestLaunch(of name: String) throws -> String {
        var id: String?
        try host.wait("\(name) is launched") {
            id = try host.launches(of: "\(bundle).\(name)").first?["launch"] as? String
            return id != nil
        }
        return id ?? ""
    }

    /// Submits a continued task, as a user's app would.
    @discardableResult
    func request(_ name: String, _ options: String...) -> HostProcess.Answer {
        host.run(["submit", "\(bundle).\(name)", "--title", "Title", "--subtitle", "Subtitle"] + options)
    }

    /// The pending requests by the last labels of their identifiers, as in `bgtask pending --json`.
    func pendingRequests() throws -> [String: [String: Any]] {
        let rows = try host.json("pending") as? [[String: Any]] ?? []
        return Dictionary(
            uniqueKeysWithValues: rows.compactMap { row in
                guard let request = row["request"] as? [String: Any],
                    let identifier = request["identifier"] as? String
                else { return nil }
                return (String(identifier.dropFirst(bundle.count + 1)), request)
            })
    }

    /// The vetoes of a task, as `bgtask explain` prints them.
    func vetoes(of name: String) -> [String] {
        host.run("explain", "\(bundle).\(name)").output.split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }.filter { $0.hasPrefix("no ") }
    }

    /// Launches a task regardless of the conditions, and waits until the launch has ended.
    ///
    /// - Returns: The launch, as in `bgtask show --json`.
    func launch(_ name: String) throws -> Launch { try end(begin(name)) }

    /// Launches a task, expires it when it has logged `word`, and waits until the launch has ended.
    func expire(_ name: String, after word: String? = nil) throws -> Launch {
        let id = try begin(name)
        if let word { try host.wait("\(id) says \(word)") { lines(of: id).contains { $0.contains(word) } } }
        host.run("expire", id)
        return try end(id)
    }

    /// Launches a task and waits until its handler is running.
    func begin(_ name: String) throws -> String {
        let answer = host.run("launch", "\(bundle).\(name)", "--json")
        guard let row = try? JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any],
            let id = (row["launch"] as? [String: Any])?["launch"] as? String
        else { throw HostFailure("bgtask launch \(name): \(answer)") }
        try host.wait("\(id) runs") { try self.row(id)["state"] as? String != "starting" }
        return id
    }

    /// Waits until a launch has ended.
    func end(_ id: String) throws -> Launch {
        try host.wait("\(id) ends") { try self.row(id)["outcome"] is String }
        return Launch(row: try row(id), lines: lines(of: id))
    }

    private func row(_ id: String) throws -> [String: Any] {
        try host.launches().first { $0["launch"] as? String == id } ?? [:]
    }

    /// The lines of the host's log about a launch, without their times.
    func lines(of id: String) -> [String] {
        let text = (try? String(contentsOf: host.logFile, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").filter { $0.contains(" \(id) ") }.map(String.init)
    }

    /// The identifiers of the app's pending requests.
    func pending() throws -> [String] {
        (try host.json("pending") as? [[String: Any]] ?? [])
            .compactMap { ($0["request"] as? [String: Any])?["identifier"] as? String }
    }

    struct Launch {
        let row: [String: Any]
        let lines: [String]
        var outcome: String? { row["outcome"] as? String }
        var reason: String? { row["reason"] as? String }
        var message: String { row["message"] as? String ?? "" }
        /// Whether a line that the handler printed or logged contains the text.
        func says(_ text: String) -> Bool { lines.contains { $0.contains(text) } }
    }
}
