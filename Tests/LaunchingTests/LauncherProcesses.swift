import LinuxSystem

/// The processes of a launcher as tests count them.
enum LauncherProcesses {
    /// The launcher and the processes below it, sorted, without its guardian.
    static func all(of launcher: Int32) -> [Int32] {
        ProcessUsage.processes(below: launcher).filter {
            (try? SmallFile.read("/proc/\($0)/comm")) != "bgtask-guardian\n"
        }
    }
}
