import LinuxSystem

/// The launcher of an earlier host that died, which holds the lock while it ends its tasks.
enum EarlierLauncher {
    /// Waits until the lock is free; kills a launcher that a signal has stopped, which could never end.
    ///
    /// Only the owner of the state directory may call it, so no living host needs that launcher. Its tasks
    /// die with it. A launcher that is not stopped has a reason to wait, such as a process that the kernel
    /// can't end.
    ///
    /// - Parameters:
    ///   - lockPath: The path of the lock that the launcher holds.
    ///   - tell: Called with a message if the launcher was stopped.
    static func awaitEnd(lockPath: String, _ tell: (String) -> Void) {
        var hasTold = false
        while let holder = FileLock.holder(of: lockPath), let process = try? ProcessHandle(of: holder) {
            // The number can belong to another process by now; the handle can't.
            guard FileLock.holder(of: lockPath) == holder else { continue }
            if ProcessTracing(of: [holder]).isStopped, isLauncher(holder, lockPath) {
                process.kill()
                if !hasTold {
                    tell("the launcher of an earlier host, process \(holder), was stopped, so it was killed")
                    hasTold = true
                }
            }
            _ = process.waitForEnd(timeoutMilliseconds: 500)
        }
    }

    private static func isLauncher(_ process: Int32, _ lockPath: String) -> Bool {
        guard let line = try? SmallFile.read("/proc/\(process)/cmdline") else { return false }
        let words = line.split(separator: "\0").map(String.init)
        return Array(words.suffix(3)) == ["launcher", "--lock", lockPath]
    }
}
