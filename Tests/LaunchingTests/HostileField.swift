import Foundation
import Glibc
import TaskHostTestSupport
import TaskModel

@testable import Launching

/// A launcher with victims: a file, a process, a listening port and shared memory, of the task's own user.
final class HostileField {
    let harness: LaunchHarness
    private let runner: CagedRunner?
    private let library: String
    private let victim = Process()
    private let port: UInt16
    private let listener: CInt
    private let segment: String
    private static let bundleUser: UInt32 = 2_100_000_007

    init(
        _ setting: SandboxTests.Setting, without layers: Set<SandboxLayer> = [], processLimit: UInt64? = nil,
        plugin: String = "hostile"
    ) async throws {
        runner = try setting.cage.map { try CagedRunner($0) }
        let owner = setting.cage.flatMap { $0 == .container ? nil : CagedRunner.user }
        // Where bundles have users, the victim is another bundle.
        let victims = setting.hasUser ? Self.bundleUser + 1 : owner
        harness = try await LaunchHarness(
            groupKill: setting.groupKill, runner: runner?.path ?? Products.path("bgtask-runner"),
            without: layers, owner: owner, bundleUser: setting.hasUser ? Self.bundleUser : nil,
            processLimit: processLimit)
        library = try PluginCompiler.compile(plugin, into: harness.folder.appending(path: "library"))
        let files = FileManager.default
        for name in ["secret", "granted"] {
            try files.createDirectory(
                at: harness.folder.appending(path: name), withIntermediateDirectories: false)
        }
        for name in ["secret/file", "granted/readable", "granted/foreign"] {
            try Data("secret".utf8).write(to: harness.folder.appending(path: name))
            try files.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: harness.folder.appending(path: name).path)
        }
        if let victims {
            for name in ["secret", "secret/file", "granted", "granted/readable"] {
                let isOwn = setting.hasUser && name.hasPrefix("granted")
                try LaunchHarness.give(
                    harness.folder.appending(path: name), to: isOwn ? Self.bundleUser : victims)
            }
        }
        if getuid() == 0 {
            try LaunchHarness.give(harness.folder.appending(path: "granted/foreign"), to: 12_345)
        } else {
            // Only root can give a file away, and only root reads one that nobody may read.
            try files.setAttributes(
                [.posixPermissions: 0], ofItemAtPath: harness.folder.appending(path: "granted/foreign").path)
        }
        let user = victims ?? getuid()
        victim.executableURL = URL(filePath: "/usr/bin/setpriv")
        victim.arguments = ["--reuid=\(user)", "--clear-groups", "sleep", "600"]
        if user == getuid() {
            victim.executableURL = URL(filePath: "/bin/sleep")
            victim.arguments = ["600"]
        }
        try victim.run()
        (listener, port) = try Self.listen()
        let made = Command.run("ipcmk", "-M", "64", "-p", "0666")
        segment = made.output.split { !$0.isNumber }.last.map(String.init) ?? ""
        guard made.status == 0, !segment.isEmpty else { throw TestFailure("ipcmk: \(made.output)") }
    }

    private static func listen() throws -> (CInt, UInt16) {
        let file = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let done = withUnsafeMutableBytes(of: &address) { bytes in
            guard let base = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return bind(file, base, length) == 0 && Glibc.listen(file, 8) == 0
                && getsockname(file, base, &length) == 0
        }
        guard done else { throw TestFailure("a listening socket: \(errno)") }
        return (file, UInt16(bigEndian: address.sin_port))
    }

    func path(_ name: String) -> String { harness.folder.appending(path: name).path }

    func order(_ label: String, with change: (inout SandboxDeclaration) -> Void) throws -> LaunchOrder {
        var order = try harness.order(label)
        order.handler.libraryPath = library
        order.handler.libraryHash = "hostile"
        change(&order.handler.manifest.sandbox)
        order.place.grants.read = [path("granted")]
        let victims = [
            "FILE": path("secret/file"), "LIBRARY": library, "READABLE": path("granted/readable"),
            "FOREIGN": path("granted/foreign"), "PROCESS": "\(victim.processIdentifier)", "PORT": "\(port)",
            "SEGMENT": segment, "SOCKET": path("control.sock"),
        ]
        order.environment += victims.map { "VICTIM_\($0)=\($1)" }.sorted()
        return order
    }

    /// Runs a group of attempts; returns what the plugin got.
    func attempt(
        _ label: String, with change: (inout SandboxDeclaration) -> Void = { _ in }
    ) async throws -> String {
        let end = try await harness.run(try order(label, with: change)).end
        return end?.completion == true ? end?.message ?? "no message" : "\(String(describing: end))"
    }

    func victimIsUnharmed() throws -> Bool {
        let limits = try String(
            contentsOfFile: "/proc/\(victim.processIdentifier)/limits", encoding: .utf8)
        return victim.isRunning && !limits.contains("Max open files            1 ")
            && FileManager.default.fileExists(atPath: path("secret/file"))
    }

    func end() async {
        // The tests' threads block signals, which their children inherit.
        kill(victim.processIdentifier, SIGKILL)
        close(listener)
        _ = Command.run("ipcrm", "-m", segment)
        await harness.end()
    }
}
