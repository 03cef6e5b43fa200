import CHandlerABI
import Foundation
import Glibc

/// A plugin's library in this process, with a table of host functions that are written in Swift.
///
/// It replaces bgtask-runner in tests that stop a handler at an exact point of its work.
final class PluginHarness {
    /// The result of one call of the handler.
    struct Run {
        var completion: (success: Bool, message: String)?
        var checkpoint: Data?
        var progress: [(completed: Int64, total: Int64)] = []
        var log: [String] = []
        var askedForExpiration = false
    }

    private let plugin: UnsafePointer<bgtask_plugin>

    /// Loads `lib<name>.so` from the build's folder, which also holds this test program.
    init(_ name: String) throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: program).deletingLastPathComponent().appendingPathComponent(
            "lib\(name).so"
        ).path
        guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL),
            let symbol = dlsym(library, "bgtask_plugin_entry")
        else { throw HarnessError(description: String(cString: dlerror())) }
        let entry = unsafeBitCast(symbol, to: (@convention(c) () -> UnsafePointer<bgtask_plugin>?).self)
        guard let plugin = entry() else {
            throw HarnessError(description: "\(path): the entry gave no plugin")
        }
        self.plugin = plugin
    }

    /// Calls the handler. When it asks for the `polls`-th time, and from then on, it learns that it must
    /// stop; never if `polls` is `nil`.
    func run(
        payload: String?, dataDirectory: String, checkpoint: Data? = nil, expiringAfter polls: Int? = nil
    ) -> Run {
        let state = RunState(
            payload: payload, dataDirectory: dataDirectory, checkpoint: checkpoint, polls: polls)
        var host = Self.table
        plugin.pointee.run(OpaquePointer(Unmanaged.passUnretained(state).toOpaque()), &host)
        return state.run
    }

    var abiVersion: UInt32 { plugin.pointee.abi_version }

    private static let table: bgtask_host = {
        var host = bgtask_host()
        host.abi_version = BGTASK_ABI_VERSION
        host.struct_size = MemoryLayout<bgtask_host>.size
        host.launch = { UnsafePointer(RunState.of($0).launch) }
        host.progress = { task, completed, total, _ in
            RunState.of(task).run.progress.append((completed, total))
            return BGTASK_OK
        }
        host.log = { task, _, message in
            RunState.of(task).run.log.append(message.map { String(cString: $0) } ?? "")
        }
        host.checkpoint = { task, bytes, length in
            RunState.of(task).run.checkpoint = bytes.map { Data(bytes: $0, count: length) }
            return BGTASK_OK
        }
        host.complete = { task, success, message in
            let state = RunState.of(task)
            guard state.run.completion == nil else { return }
            state.run.completion = (success != 0, message.map { String(cString: $0) } ?? "")
        }
        host.expiration_descriptor = { task in
            RunState.of(task).run.askedForExpiration = true
            return -1
        }
        host.expired = { task, _ in
            let state = RunState.of(task)
            guard let polls = state.polls else { return 0 }
            state.polls = max(0, polls - 1)
            return polls == 0 ? 1 : 0
        }
        return host
    }()
}

struct HarnessError: Error, CustomStringConvertible {
    let description: String
}

/// The state of one call, which the opaque `bgtask_task` refers to.
private final class RunState {
    var run = PluginHarness.Run()
    var polls: Int?
    let launch = UnsafeMutablePointer<bgtask_launch>.allocate(capacity: 1)
    private var owned: [UnsafeMutablePointer<CChar>] = []

    init(payload: String?, dataDirectory: String, checkpoint: Data?, polls: Int?) {
        self.polls = polls
        var facts = bgtask_launch()
        facts.struct_size = MemoryLayout<bgtask_launch>.size
        facts.attempt = checkpoint == nil ? 1 : 2
        facts.data_directory = copy(Data(dataDirectory.utf8))
        facts.identifier = copy(Data("org.example.test".utf8))
        if let payload {
            facts.payload = UnsafeRawPointer(copy(Data(payload.utf8)))
            facts.payload_length = payload.utf8.count
        }
        if let checkpoint {
            facts.checkpoint = UnsafeRawPointer(copy(checkpoint))
            facts.checkpoint_length = checkpoint.count
        }
        launch.initialize(to: facts)
    }

    deinit {
        launch.deallocate()
        for text in owned { text.deallocate() }
    }

    private func copy(_ bytes: Data) -> UnsafePointer<CChar> {
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
        for (index, byte) in bytes.enumerated() { text[index] = CChar(bitPattern: byte) }
        text[bytes.count] = 0
        owned.append(text)
        return UnsafePointer(text)
    }

    static func of(_ task: OpaquePointer?) -> RunState {
        Unmanaged<RunState>.fromOpaque(UnsafeRawPointer(task!)).takeUnretainedValue()
    }
}

/// A folder that is removed together with this object.
final class ScratchFolder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "/plugin-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ bytes: Data) throws {
        let file = URL(fileURLWithPath: path + "/" + name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: file)
    }

    func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)), as: UTF8.self)
    }
}
