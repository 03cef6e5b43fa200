import CLinuxShims
import Glibc

/// The resident memory of a group's processes, read through descriptors that stay open.
///
/// It is meant for groups that are measured every second. For a group of one process, a measurement takes
/// three system calls, or two if the group can't grow; opening the files each time takes eleven. Only one
/// thread may use an object.
public final class GroupMemory {
    /// The largest number of processes whose files stay open, so that a launch with many processes does not
    /// use up the host's descriptors; the files of further processes are opened each time.
    private static let mostKept = 8

    private let processes: OwnedDescriptor
    private let mayGrow: Bool
    /// The kernel's list of processes at the last look; if the next one is equal, it need not be parsed.
    private var list: [UInt8] = []
    /// The processes in the list, with their open files.
    private var members: [Member] = []
    /// How many files of processes were opened so far, for tests.
    private(set) var openCount = 0
    private var buffer = [UInt8](repeating: 0, count: 4096)

    private struct Member {
        let process: Int32
        var statm: KeptFile?
        /// What `statm` does not show, at the last look at it; `nil` before the first.
        var further: ProcessUsage.FurtherMemory?
        /// The file and shared pages, and the CPU time, at that look.
        var sharedPages: Int64 = 0
        var cpuTime: Duration = .zero
        /// The looks since then.
        var looks = 0
    }

    /// How many file and shared pages a process may get or give back before the rest of its memory is looked
    /// at.
    ///
    /// Our choice: 1 MiB with usual pages. The look costs ten times as much as the other numbers.
    private static let tolerance: Int64 = 256
    /// How much CPU time a process may use before its page tables are looked at.
    ///
    /// They can't grow without CPU time: a page fault takes longer than 0.2 µs, and needs 8 KiB of page
    /// tables at most, if the process does not map the same pages twice. So 1 ms is at most 40 MiB.
    private static let idleTime = Duration.milliseconds(1)
    /// After how many looks the page tables of a process that has used less are looked at.
    private static let mostLooks = 10
    /// The shared memory that does not count, in bytes.
    private static let mostHidden: Int64 = 1 << 20

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

    /// The process of a group that has only this one and can't grow; `nil` for other groups.
    public var onlyProcess: Int32? { !mayGrow && members.count == 1 ? members.first?.process : nil }

    /// Resident memory in bytes, with page tables and swapped pages.
    ///
    /// Pages that are shared with other processes or with files do not count, except for shared memory above
    /// 1 MiB.
    ///
    /// - Returns: The sum over all processes; 0 for a group that is empty or does not exist any more.
    public func residentBytes() -> Int64 {
        let page = Int64(sysconf(CInt(_SC_PAGESIZE)))
        if mayGrow || list.isEmpty { lookForMembers() }
        var pages: Int64 = 0
        for index in members.indices {
            let member = members[index]
            guard let file = member.statm ?? openFile(of: member.process) else { continue }
            let count = pread(file.descriptor.rawValue, &buffer, buffer.count, 0)
            if count > 0 {
                let (own, shared) = Self.residentPages(buffer[..<count])
                pages += own + furtherMemory(ofMember: index, shared) / page
                // The first thread has ended, and shows nothing any more: the next call asks another one.
                if own + shared == 0 { members[index].statm = nil }
            } else {
                // The process has ended. Another process may get its number, so the next call reads the list
                // again.
                members[index].statm = nil
                list = []
            }
        }
        return pages * page
    }

    /// The memory that `statm` does not show, of a member with this number of file and shared pages.
    private func furtherMemory(ofMember index: Int, _ shared: Int64) -> Int64 {
        var member = members[index]
        let cpuTime = ProcessUsage.cpuClock(of: member.process)
        member.looks += 1
        let hasWorked =
            cpuTime - member.cpuTime >= Self.idleTime
            || member.looks >= Self.mostLooks && cpuTime != member.cpuTime
        let further: ProcessUsage.FurtherMemory
        if let known = member.further, !hasWorked, known.shared <= Self.mostHidden,
            abs(shared - member.sharedPages) <= Self.tolerance
        {
            further = known
        } else {
            further = ProcessUsage.furtherMemory(of: member.process)
            (member.further, member.sharedPages) = (further, shared)
            (member.cpuTime, member.looks) = (cpuTime, 0)
        }
        members[index] = member
        return further.unmapped + (further.shared > Self.mostHidden ? further.shared : 0)
    }

    private func openFile(of process: Int32) -> KeptFile? {
        openCount += 1
        return KeptFile("/proc/\(lx_living_thread(process))/statm")
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
        let kept = Dictionary(members.map { ($0.process, $0) }, uniquingKeysWith: { first, _ in first })
        members = []
        for number in list.split(separator: UInt8(ascii: "\n")) {
            guard let process = Int32(String(decoding: number, as: UTF8.self)) else { continue }
            var member = kept[process] ?? Member(process: process)
            let isKept = members.count < Self.mostKept
            member.statm = isKept ? member.statm ?? openFile(of: process) : nil
            members.append(member)
        }
    }

    /// The second number of `statm` minus the third, and the third.
    ///
    /// The third number is of file and shared pages: a clone shares most pages with its template.
    private static func residentPages(_ text: ArraySlice<UInt8>) -> (own: Int64, shared: Int64) {
        var numbers: [Int64] = [0]
        for byte in text {
            if byte == UInt8(ascii: " ") {
                if numbers.count == 3 { break }
                numbers.append(0)
            } else if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int64(byte - UInt8(ascii: "0"))
            }
        }
        return numbers.count == 3 ? (max(0, numbers[1] - numbers[2]), numbers[2]) : (0, 0)
    }
}
