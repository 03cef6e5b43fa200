import CLinuxShims
import Glibc

/// The files without a name that processes have open or mapped: a directory does not show their space.
///
/// Mapped files, which include shared memory, are found by root alone; the kernel shows them to no one else.
public struct UnlinkedFiles: Sendable {
    private struct Name: Hashable {
        let device, inode: UInt64
    }

    /// How many files of one process are counted: four times as many as a task can have open.
    private static let mostFiles = 16_384

    /// The device of memory files, shared mappings and segments of System V; 0 if it is not known.
    private static let sharedMemory = lx_shared_memory_device()

    /// The allocated bytes by device.
    private var bytes: [UInt64: Int64] = [:]

    /// Looks at the files of processes; those that have ended have none.
    public init(of processes: [Int32]) {
        var seen: Set<Name> = []
        var files = [lx_file](repeating: lx_file(), count: Self.mostFiles)
        for process in processes {
            let count = lx_unlinked_files(process, &files, files.count)
            for file in files[..<count]
            where seen.insert(Name(device: file.device, inode: file.inode)).inserted {
                bytes[file.device, default: 0] += file.bytes
            }
        }
    }

    /// The bytes on the file systems of these paths.
    public func bytes(besides paths: [String]) -> Int64 {
        Set(paths.map { lx_device($0) }).reduce(0) { $0 + (bytes[$1] ?? 0) }
    }

    /// The bytes of shared memory, also of pages that no process has mapped at present.
    public var sharedMemoryBytes: Int64 { bytes[Self.sharedMemory] ?? 0 }
}
