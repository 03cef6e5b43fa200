import LinuxSystem

/// The launcher of an earlier host that died, or its guardian, which hold the lock while they end its tasks.
enum EarlierLauncher {
    /// Waits until the lock is free; kills a launcher or guardian that a signal has stopped, which could
    /// never end.
    ///
    /// Only the owner of the state directory may call it, while it has no launcher itself, so no living host
    /// needs them. The tasks of a launcher die with it. A process that is not stopped has a reason to wait,
    /// such as a process that the kernel can't end.
    ///
    /// - Parameters:
    ///   - lockPath: The path of the lock that the launcher holds.
    ///   - tell: Called with a message if the launcher was stopped.
    static func awaitEnd(lockPath: String, _ tell: (String) -> Void) {
        var told: Set<Int32> = []
        while let holder = holder(of: lockPath), let process = try? ProcessHandle(of: holder) {
            // The number can belong to another process by now; the handle can't.
            guard isLauncher(holder, lockPath) || FileLock.holder(of: lockPath) == holder else { continue }
            if ProcessTracing(of: [holder]).isStopped, isLauncher(holder, lockPath) {
                let name =
                    FileLock.holder(of: lockPath) == holder
                    ? "launcher of an earlier host" : "guardian of an earlier launcher"
                process.kill()
                if told.insert(holder).inserted {
                    tell("the \(name), process \(holder), was stopped, so it was killed")
                }
            }
            _ = process.waitForEnd(timeoutMilliseconds: 500)
        }
    }

    /// The launcher, or else its guardian: the kernel names the process that took the lock, also when that
    /// has ended and another one still holds it.
    private static func holder(of lockPath: String) -> Int32? {
        if let holder = FileLock.holder(of: lockPath), !words(holder).isEmpty { return holder }
        return SmallFile.directories(in: "/proc").lazy.compactMap { Int32($0) }
            .first { isLauncher($0, lockPath) }
    }

    /// The command line of a process; empty if it has ended.
    private static func words(_ process: Int32) -> [String] {
        guard let line = try? SmallFile.read("/proc/\(process)/cmdline") else { return [] }
        return line.split(separator: "\0").map(String.init)
    }

    /// Whether a process is a launcher with this lock, or the guardian of one, which has its command line.
    private static func isLauncher(_ process: Int32, _ lockPath: String) -> Bool {
        let words = words(process)
        guard let place = words.firstIndex(of: "launcher") else { return false }
        return Array(words[place...].prefix(3)) == ["launcher", "--lock", lockPath]
    }
}
