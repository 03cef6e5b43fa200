import Foundation
import Testing

/// A host with one of the apps of `Tests/Fixtures/Apps` installed.
///
/// `make test` builds them; they are a package of their own, as a user's would be.
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
    ///   - tasks: Each task's last label and kind, with whatever else its manifest says.
    ///   - extra: More keys of the manifest.
    ///   - settings: The host's configuration; see ``configure(_:)``.
    ///   - user: See ``HostProcess/user``.
    ///   - environment: What the host's environment has besides the standard one of tests.
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
                "\(built.path) is not built: run 'swift build --package-path Tests/Fixtures/Apps' (make test does)"
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
        // It is installed: its launch code ran once, before any task.
        try host.wait("the app launch has ended") {
            try host.launches(of: bundle).first.map { $0["outcome"] is String } ?? false
        }
    }

    let bundle: String

    /// Where the host looks for the administrator's files.
    private let configuration = FileManager.default.temporaryDirectory.appendingPathComponent(
        "configuration-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: configuration) }

    /// Replaces the host's configuration, which takes force while it runs.
    func configure(_ settings: String) throws { try Self.write(settings, for: configuration) }

    private static func write(_ settings: String, for root: URL) throws {
        let folder = root.appendingPathComponent("etc/bgtask")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        let new = folder.appendingPathComponent("new")
        try Data((settings + "\n").utf8).write(to: new)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: new.path)
        // Renamed into place: the host never sees half of it.
        if rename(new.path, folder.appendingPathComponent("bgtaskd.yaml").path) != 0 {
            throw HostFailure("rename to \(folder.path)/bgtaskd.yaml")
        }
    }

    /// Waits until a launch, or the host about it, has said something.
    func hear(_ text: String, from id: String) throws {
        try host.wait("\(id) says '\(text)'") { lines(of: id).contains { $0.contains(text) } }
    }

    /// The newest launch of a task, once there is one.
    func newestLaunch(of name: String) throws -> String {
        var id: String?
        try host.wait("\(name) is launched") {
            id = try host.launches(of: "\(bundle).\(name)").first?["launch"] as? String
            return id != nil
        }
        return id ?? ""
    }

    /// Submits a continued task, as its user would.
    @discardableResult
    func request(_ name: String, _ options: String...) -> HostProcess.Answer {
        host.run(["submit", "\(bundle).\(name)", "--title", "Title", "--subtitle", "Subtitle"] + options)
    }

    /// The pending requests by identifier's last labels, as `bgtask pending --json` has them.
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

    /// What keeps a task from starting, as `bgtask explain` says it.
    func vetoes(of name: String) -> [String] {
        host.run("explain", "\(bundle).\(name)").output.split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }.filter { $0.hasPrefix("no ") }
    }

    /// Launches a task whatever the conditions, and waits until its launch has ended.
    ///
    /// - Returns: The launch, as `bgtask show --json` has it.
    func launch(_ name: String) throws -> Launch { try end(begin(name)) }

    /// Launches a task, tells it to stop when it has said something, and waits until its launch has ended.
    func expire(_ name: String, after word: String? = nil) throws -> Launch {
        let id = try begin(name)
        if let word { try host.wait("\(id) says \(word)") { lines(of: id).contains { $0.contains(word) } } }
        host.run("expire", id)
        return try end(id)
    }

    /// Launches a task and waits until its handler runs.
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

    /// What the host's log has of a launch, without the time.
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
        /// Whether the handler printed or logged it.
        func says(_ text: String) -> Bool { lines.contains { $0.contains(text) } }
    }
}
