import Glibc

/// The resident memory of a group's processes, read through descriptors that stay open.
///
/// It is meant for groups that are measured every second. For a group of one process, a measurement takes two
/// system calls, or one if the group can't grow; opening the files each time takes eight. Only one thread may
/// use an object.
public final class GroupMemory {
    /// The largest number of processes whose files stay open, so that a launch with many processes does not
    /// use up the host's descriptors; the files of further processes are opened each time.
    private static let mostKept = 8

    private let processes: OwnedDescriptor
    private let mayGrow: Bool
    /// The kernel's list of processes at the last look; if the next one is equal, it need not be parsed.
    private var list: [UInt8] = []
    /// The processes in the list, with their open files.
    private var members: [(process: Int32, statm: KeptFile?)] = []
    /// How many files of processes were opened so far, for tests.
    private(set) var openCount = 0
    private var buffer = [UInt8](repeating: 0, count: 4096)

    private final class KeptFile {
        let descriptor: OwnedDescriptor

        init?(_ path: String) {
            let number = open(path, O_RDONLY | O_CLOEXEC)
            if number < 0 { return nil }
            descriptor = OwnedDescriptor(taking: number)
        }
    }

    /// Opens the list of a group's processes.
    ///
    /// - Parameters:
    ///   - group: The group.
    ///   - mayGrow: Whether processes may join the group after the first look. If not, the list is read again
    ///     only when one of its processes has ended.
    /// - Throws: The `open` that failed.
    public init(of group: ControlGroup, mayGrow: Bool = true) throws(SystemCallError) {
        self.mayGrow = mayGrow
        let path = group.path + "/cgroup.procs"
        processes = OwnedDescriptor(
            taking: try retryingOnInterrupt("open", path) { open(path, O_RDONLY | O_CLOEXEC) })
    }

    /// Resident memory in bytes, without pages that are shared with other processes or with files.
    ///
    /// - Returns: The sum over all processes; 0 for a group that is empty or does not exist any more.
    public func residentBytes() -> Int64 {
        let page = Int64(sysconf(CInt(_SC_PAGESIZE)))
        if mayGrow || list.isEmpty { lookForMembers() }
        var pages: Int64 = 0
        for index in members.indices {
            let (process, statm) = members[index]
            guard let file = statm ?? openFile(of: process) else { continue }
            let count = pread(file.descriptor.rawValue, &buffer, buffer.count, 0)
            if count > 0 {
                pages += Self.residentPages(buffer[..<count])
            } else {
                // The process has ended. Another process may get its number, so the next call reads the list
                // again.
                members[index].statm = nil
                list = []
            }
        }
        return pages * page
    }

    private func openFile(of process: Int32) -> KeptFile? {
        openCount += 1
        return KeptFile("/proc/\(process)/statm")
    }

    /// Updates ``members`` from the kernel's list of processes.
    private func lookForMembers() {
        var length = 0
        while true {
            if length == buffer.count { buffer += [UInt8](repeating: 0, count: length) }
            let count = buffer.withUnsafeMutableBytes { bytes in
                pread(
                    processes.rawValue, bytes.baseAddress?.advanced(by: length), bytes.count - length,
                    off_t(length))
            }
            guard count > 0 else { break }
            length += count
            // If the kernel did not fill the buffer, the list is complete.
            if length < buffer.count { break }
        }
        if list.elementsEqual(buffer[..<length]) { return }
        list = Array(buffer[..<length])
        let kept = Dictionary(members.map { ($0.process, $0.statm) }, uniquingKeysWith: { first, _ in first })
        members = []
        for number in list.split(separator: UInt8(ascii: "\n")) {
            guard let process = Int32(String(decoding: number, as: UTF8.self)) else { continue }
            let isKept = members.count < Self.mostKept
            members.append((process, isKept ? (kept[process] ?? nil) ?? openFile(of: process) : nil))
        }
    }

    /// The second number of `statm` minus the third.
    ///
    /// This leaves out file and shared pages, because a clone shares most pages with its template.
    private static func residentPages(_ text: ArraySlice<UInt8>) -> Int64 {
        var numbers: [Int64] = [0]
        for byte in text {
            if byte == UInt8(ascii: " ") {
                if numbers.count == 3 { break }
                numbers.append(0)
            } else if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int64(byte - UInt8(ascii: "0"))
            }
        }
        return numbers.count == 3 ? max(0, numbers[1] - numbers[2]) : 0
    }
}
