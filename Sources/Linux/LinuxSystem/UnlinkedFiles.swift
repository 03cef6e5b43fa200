import CLinuxShims
import Glibc

/// The files without a name that processes have open or mapped: a directory does not show their space.
///
/// Mapped files, which include shared memory, are found by root alone; the kernel shows them to no one else.
public struct UnlinkedFiles: Sendable {
    /// The places of the table of files, of which half are used: four times as many files as a process of a
    /// task can have open.
    private static let places = 32_768

    /// How many open files and mappings of all processes are looked at, which takes about a second.
    ///
    /// Our choice: a process of the default system settings can have 65,530 mappings.
    private static let mostLinks: Int64 = 500_000

    /// The device of memory files, shared mappings and segments of System V; 0 if it is not known.
    private static let sharedMemory = lx_shared_memory_device()

    /// The allocated bytes by device.
    private var bytes: [UInt64: Int64] = [:]

    /// Whether all files were counted; otherwise, there are more than any task needs.
    public let isComplete: Bool

    /// How many descriptors were sent over local sockets and not received yet; 0 before Linux 5.11.
    ///
    /// The kernel does not tell their files.
    public let descriptorsInFlight: Int

    /// A file, whatever its name is.
    public struct Identity: Hashable, Sendable {
        fileprivate let device: UInt64
        fileprivate let inode: UInt64

        /// Identifies a file; `nil` if it does not exist.
        public init?(of path: String) {
            var file = lx_file()
            guard lx_identify(path, &file) else { return nil }
            (device, inode) = (file.device, file.inode)
        }
    }

    /// Looks at the files of processes; those that have ended have none.
    ///
    /// - Parameters:
    ///   - processes: The numbers of the processes.
    ///   - others: Files that are not those of the processes, such as the libraries that a host has copied
    ///     for them, and may have replaced.
    public init(of processes: [Int32], without others: Set<Identity> = []) {
        var files = [lx_file](repeating: lx_file(), count: Self.places)
        (isComplete, descriptorsInFlight) = files.withUnsafeMutableBufferPointer { places in
            var table = lx_file_table(
                places: places.baseAddress, room: places.count, count: 0, links: Self.mostLinks, in_flight: 0)
            for file in others {
                lx_ignore_file(lx_file(device: file.device, inode: file.inode, bytes: 0), &table)
            }
            let isComplete = processes.allSatisfy { lx_add_unlinked_files($0, &table) }
            return (isComplete, Int(clamping: table.in_flight))
        }
        for file in files where file.device != 0 { bytes[file.device, default: 0] += file.bytes }
    }

    /// The bytes on the file systems of these paths.
    public func bytes(besides paths: [String]) -> Int64 {
        Set(paths.map { lx_device($0) }).reduce(0) { $0 + (bytes[$1] ?? 0) }
    }

    /// The bytes of shared memory, also of pages that no process has mapped at present.
    public var sharedMemoryBytes: Int64 { bytes[Self.sharedMemory] ?? 0 }
}
