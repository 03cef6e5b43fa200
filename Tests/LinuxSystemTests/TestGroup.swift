import Foundation
import LinuxSystem

/// A control group of a test's own, and processes to put into it.
enum TestGroup {
    /// Creates a group, which the caller must remove; `nil`, with a printed reason, if this machine permits
    /// none.
    static func make() -> ControlGroup? {
        guard case .success(let own) = ControlGroup.own(),
            let group = try? own.child("bgtask-test-\(UUID().uuidString)")
        else {
            print("skipped: no cgroup v2 here")
            return nil
        }
        return group
    }

    /// Starts a process that sleeps until it is killed.
    static func sleeper() throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sleep")
        process.arguments = ["1000"]
        try process.run()
        return process
    }
}
