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
        let counted = whatIsCounted(for: launch)
        let countsShared = countsSharedMemory(of: launch)
        guard launch.hasLimits, counted != nil || countsShared else { return }
        let (group, pid, copies) = (launch.group, launch.pid, launch.copies)
        Self.counting.async { [self] in
            let processes = group?.processes ?? pid.map { ProcessUsage.processes(below: $0) } ?? []
            let unlinked = UnlinkedFiles(of: processes, without: copies)
            let shared = countsShared ? unlinked : nil
            guard let (directories, limit) = counted else {
                return loop.execute { [self] in took(shared, nil, launch) }
            }
            var size = DirectoryTree.size(of: directories, most: Self.mostEntries)
            size.bytes += unlinked.bytes(besides: directories)
            size.isComplete = size.isComplete && unlinked.isComplete
            let (final, unreceived) = (size, unlinked.descriptorsInFlight)
            loop.execute { [self] in
                took(shared, (final.bytes, final.isComplete, limit), launch)
                took(descriptorsInFlight: unreceived, launch)
            }
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

    /// Whether a launch can have shared memory that its processes do not show.
    ///
    /// It exists as long as something of it is mapped. Only root can see that.
    private func countsSharedMemory(of launch: RunningLaunch) -> Bool {
        launch.memoryBefore == nil && launch.order.mayStartProcesses && runsAsRoot
    }

    private func took(
        _ shared: UnlinkedFiles?, _ size: (bytes: Int64, isComplete: Bool, limit: ByteCount)?,
        _ launch: RunningLaunch
    ) {
        guard launch.hasLimits else { return }
        if let shared {
            took(shared.sharedMemoryBytes, of: "shared memory", launch)
            if !shared.isComplete {
                let limit = launch.order.declaration.limits.memory
                let note = "it has more mapped files than can be counted; the limit of memory is \(limit)"
                handle(.limitPassed(.memoryLimit, note: note), launch)
            }
        }
        if let size {
            launch.storage = size.bytes
            if let note = excess(size.bytes, size.isComplete, size.limit) {
                handle(.limitPassed(.storageLimit, note: note), launch)
            }
        }
        guard launch.hasLimits else { return }
        launch.storageTimer = after(storageInterval) { [self] in watchStorage(of: launch) }
    }

    /// Ends a launch with descriptors that its processes sent to each other before the last count, and still
    /// have not received: nothing can count the space of their files.
    private func took(descriptorsInFlight count: Int, _ launch: RunningLaunch) {
        defer { launch.descriptorsInFlight = count }
        guard launch.hasLimits, count > 0, launch.descriptorsInFlight > 0 else { return }
        let note =
            "its processes have sent descriptors to each other without receiving them (\(count) now), so the "
            + "space of their files can't be counted, and it has a limit of storage"
        handle(.limitPassed(.storageLimit, note: note), launch)
    }

    /// Why a launch reached its limit; `nil` if it did not.
    private func excess(_ bytes: Int64, _ isComplete: Bool, _ limit: ByteCount) -> String? {
        if bytes > limit.bytes {
            return "the directories of its bundle occupy \(ByteCount(bytes: bytes)); the limit is \(limit)"
        }
        if isComplete { return nil }
        return
            "the directories of its bundle contain more than \(Self.mostEntries) files, are nested too deeply to "
            + "be counted, or it has too many files without a name; the limit is \(limit)"
    }
}
