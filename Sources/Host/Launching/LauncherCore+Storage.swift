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
        guard let limit = launch.order.declaration.limits.storage, launch.life.stage == .running else {
            return
        }
        let place = launch.order.place
        let directories = [place.dataDirectory, place.temporaryParent ?? place.temporaryDirectory]
        Self.counting.async { [self] in
            let size = DirectoryTree.size(of: directories, most: Self.mostEntries)
            loop.execute { [self] in counted(size, limit, launch) }
        }
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
