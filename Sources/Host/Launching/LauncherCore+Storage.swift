import Dispatch
import LinuxSystem
import NIOCore
import TaskModel

/// Counts the space that the directories of a bundle occupy, while a launch with a storage limit runs.
extension LauncherCore {
    /// Where directories are counted, because a full tree takes time.
    private static let counting = DispatchQueue(label: "bgtask.storage", qos: .utility)
    /// How many files and directories are counted.
    ///
    /// Our choice: a task that makes more would keep the counting thread busy for most of the interval.
    private static let mostEntries: Int64 = 200_000

    /// Counts now, and then after each ``storageInterval``, until the launch ends.
    func watchStorage(of launch: RunningLaunch) {
        guard launch.life.stage == .running, let (directories, limit) = whatIsCounted(for: launch) else {
            return
        }
        Self.counting.async { [self] in
            let size = DirectoryTree.size(of: directories, most: Self.mostEntries)
            loop.execute { [self] in counted(size, limit, launch) }
        }
    }

    /// The directories that are counted together, and how much they may occupy; `nil` if nothing is counted.
    ///
    /// Files of a memory file system are memory. If no controller counts them, and the manifest sets no
    /// limit for storage, the temporary files of the bundle may have as much as the launch of memory.
    private func whatIsCounted(for launch: RunningLaunch) -> ([String], ByteCount)? {
        let (place, limits) = (launch.order.place, launch.order.declaration.limits)
        let temporary = place.temporaryParent ?? place.temporaryDirectory
        if let limit = limits.storage { return ([place.dataDirectory, temporary], limit) }
        guard launch.memoryBefore == nil, isInMemory(temporary) else { return nil }
        return ([temporary], limits.memory)
    }

    private func counted(
        _ size: (bytes: Int64, isComplete: Bool), _ limit: ByteCount, _ launch: RunningLaunch
    ) {
        launch.storage = size.bytes
        guard launch.life.stage == .running else { return }
        if size.bytes > limit.bytes {
            let note =
                "the directories of its bundle occupy \(ByteCount(bytes: size.bytes)); the limit is \(limit)"
            return handle(.expire(.storageLimit, note: note), launch)
        }
        if !size.isComplete {
            let note =
                "the directories of its bundle contain more than \(Self.mostEntries) files, or are nested too "
                + "deeply to be counted; the limit is \(limit)"
            return handle(.expire(.storageLimit, note: note), launch)
        }
        launch.storageTimer = after(storageInterval) { [self] in watchStorage(of: launch) }
    }
}
