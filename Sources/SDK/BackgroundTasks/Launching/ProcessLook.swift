import CHandlerABI
import Foundation

/// Examines in /proc whether code of the app may still run in this process.
///
/// Only the main thread may use this, because the results exclude the main thread.
struct ProcessLook {
    /// The result of one look.
    enum Finding {
        /// A thread runs, can run, sleeps or waits for a file, or a timer fires soon.
        case busy
        /// Every thread waits for another one, but something outside the process may wake one: a socket is
        /// open, or /proc could not be read.
        case reachable
        /// Every thread waits for another one, and no socket is open.
        case idle
    }

    /// How far ahead the look considers timers, in nanoseconds; a timer that fires later is ignored.
    let horizon: UInt64
    /// The CPU time in nanoseconds that all other threads, including ended ones, had used when activity was
    /// last found.
    private var cpuTime: UInt64

    /// The smallest increase of CPU time, in nanoseconds, that counts as activity.
    ///
    /// A small difference can be an error, because the two clocks are not read at the same moment. A thread
    /// that wakes up uses several times this before it can submit anything.
    private static let leastCPUTime: UInt64 = 10_000

    /// Prepares to look for activity, and for timers that fire within `horizon` nanoseconds.
    ///
    /// Activity of other threads before this call does not count.
    init(horizon: UInt64) {
        self.horizon = horizon
        cpuTime = Self.cpuTimeOfOthers()
    }

    /// Looks at the process once.
    mutating func take() -> Finding {
        let others = Self.cpuTimeOfOthers()
        if others > cpuTime + Self.leastCPUTime {
            cpuTime = others
            return .busy
        }
        guard let isWaiting = Self.everyThreadWaits() else { return .reachable }
        return isWaiting ? descriptors() : .busy
    }

    private static func cpuTimeOfOthers() -> UInt64 {
        let main = nanoseconds(of: CLOCK_THREAD_CPUTIME_ID)
        let all = nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID)
        return all > main ? all - main : 0
    }

    private static func nanoseconds(of clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    // MARK: Threads

    /// The system calls in which a thread waits for another thread, or for descriptors, which are examined
    /// separately.
    ///
    /// The look does not see whether such a call has a timeout.
    ///
    /// They are futex, epoll_wait, epoll_pwait, epoll_pwait2, poll and ppoll, by the kernel's numbers, which
    /// never change.
    private static let waitingCalls: Set<Substring> = {
        #if arch(x86_64)
            ["202", "232", "281", "441", "7", "271"]
        #elseif arch(arm64)
            ["98", "22", "441", "73"]
        #else
            []
        #endif
    }()

    /// Whether every thread except the main thread waits in one of ``waitingCalls``; `nil` if /proc cannot be
    /// read.
    private static func everyThreadWaits() -> Bool? {
        guard let threads = entries(of: "/proc/self/task") else { return nil }
        let main = String(getpid())
        for thread in threads where thread != main {
            guard let file = fopen("/proc/self/task/\(thread)/syscall", "re") else {
                // The thread has ended in the meantime.
                if errno == ENOENT { continue }
                return nil
            }
            defer { fclose(file) }
            // The line is `202 0x7ffc...` in a system call, `running`, or `-1` if the thread waits outside a
            // call, for example for a page of a file.
            guard let line = line(of: file), let call = line.split(separator: " ").first else { return nil }
            if !waitingCalls.contains(call.trimming("\n")) { return false }
        }
        return true
    }

    // MARK: Descriptors

    private func descriptors() -> Finding {
        guard let numbers = Self.entries(of: "/proc/self/fd") else { return .reachable }
        var finding = Finding.idle
        var target = [CChar](repeating: 0, count: 64)
        for number in numbers {
            let length = readlink("/proc/self/fd/\(number)", &target, target.count)
            guard length > 0 else { continue }
            let what = String(decoding: target.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
            if what == "anon_inode:[timerfd]", isDueSoon(number) { return .busy }
            if what.hasPrefix("socket:") { finding = .reachable }
        }
        return finding
    }

    /// Whether the timer of a timerfd descriptor is armed and fires within the horizon.
    private func isDueSoon(_ number: String) -> Bool {
        guard let file = fopen("/proc/self/fdinfo/\(number)", "re") else { return false }
        defer { fclose(file) }
        while let line = Self.line(of: file) {
            // `it_value: (0, 49406829)` contains the remaining seconds and nanoseconds; a disarmed timer has
            // zeros.
            guard line.hasPrefix("it_value: ") else { continue }
            let parts = line.split { !$0.isNumber }.compactMap { UInt64($0) }
            guard parts.count == 2 else { return false }
            let (seconds, isFar) = parts[0].multipliedReportingOverflow(by: 1_000_000_000)
            return !isFar && (parts[0], parts[1]) != (0, 0) && seconds + parts[1] <= horizon
        }
        return false
    }

    // MARK: Files

    /// The names in a directory of /proc that do not begin with a dot; `nil` if it cannot be read.
    private static func entries(of path: String) -> [String]? {
        guard let directory = opendir(path) else { return nil }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.first != "." { names.append(name) }
        }
        return names
    }

    /// The next line of a file, or its next 255 bytes if it is longer.
    private static func line(of file: UnsafeMutablePointer<FILE>) -> String? {
        var bytes = [CChar](repeating: 0, count: 256)
        guard fgets(&bytes, CInt(bytes.count), file) != nil else { return nil }
        return String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension Substring {
    /// The text without this character at its end.
    fileprivate func trimming(_ character: Character) -> Substring {
        last == character ? dropLast() : self
    }
}
