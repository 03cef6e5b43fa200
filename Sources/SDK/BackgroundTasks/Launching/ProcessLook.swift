import Foundation

/// A look at what the rest of this process does, by /proc: whether code of the app may still come to run.
///
/// For the main thread, which does not count itself.
struct ProcessLook {
    /// What was seen.
    enum Finding {
        /// A thread runs, could run, or waits for time to pass or for a file; or a timer is due soon.
        case busy
        /// Every thread waits for another one, but something from outside may wake one: a socket is open, or
        /// /proc could not be read.
        case reachable
        /// Every thread waits for another one.
        case idle
    }

    /// Nanoseconds: a timer that is due later than this is not waited for.
    let horizon: UInt64
    /// CPU time of all other threads, dead ones included, at the last look that found any; nanoseconds.
    private var cpuTime: UInt64

    /// The least CPU time that counts as activity, nanoseconds: the two clocks are not read at the same
    /// moment, and a thread that wakes uses several times this before it can submit anything.
    private static let leastCPUTime: UInt64 = 10_000

    /// Prepares looks that wait for timers up to `horizon` nanoseconds away.
    ///
    /// What the other threads have done before does not count.
    init(horizon: UInt64) {
        self.horizon = horizon
        cpuTime = Self.cpuTimeOfOthers()
    }

    /// Takes a look.
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

    /// The system calls in which a thread waits for another one, or for descriptors, which are looked at
    /// themselves.
    ///
    /// They are futex, epoll_wait, epoll_pwait, epoll_pwait2, poll and ppoll. The kernel's numbers never
    /// change.
    private static let waitingCalls: Set<Substring> = {
        #if arch(x86_64)
            ["202", "232", "281", "441", "7", "271"]
        #elseif arch(arm64)
            ["98", "22", "441", "73"]
        #else
            []
        #endif
    }()

    /// Whether every thread but this one waits in one of ``waitingCalls``; `nil` if that can't be seen.
    private static func everyThreadWaits() -> Bool? {
        guard let threads = entries(of: "/proc/self/task") else { return nil }
        let main = String(getpid())
        for thread in threads where thread != main {
            guard let file = fopen("/proc/self/task/\(thread)/syscall", "re") else {
                // It has ended since.
                if errno == ENOENT { continue }
                return nil
            }
            defer { fclose(file) }
            // `202 0x7ffc...` in a call, `running`, or `-1` where it waits outside of any, for a page of a
            // file.
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

    /// Whether a timer's descriptor is armed and fires within the horizon.
    private func isDueSoon(_ number: String) -> Bool {
        guard let file = fopen("/proc/self/fdinfo/\(number)", "re") else { return false }
        defer { fclose(file) }
        while let line = Self.line(of: file) {
            // `it_value: (0, 49406829)`: seconds and nanoseconds that are left; zeros are a disarmed timer's.
            guard line.hasPrefix("it_value: ") else { continue }
            let parts = line.split { !$0.isNumber }.compactMap { UInt64($0) }
            guard parts.count == 2 else { return false }
            let (seconds, isFar) = parts[0].multipliedReportingOverflow(by: 1_000_000_000)
            return !isFar && (parts[0], parts[1]) != (0, 0) && seconds + parts[1] <= horizon
        }
        return false
    }

    // MARK: Files

    /// The names in a directory of /proc, which are numbers; `nil` if it can't be read.
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

    /// The next line of a file, at most 255 bytes of it.
    private static func line(of file: UnsafeMutablePointer<FILE>) -> String? {
        var bytes = [CChar](repeating: 0, count: 256)
        guard fgets(&bytes, CInt(bytes.count), file) != nil else { return nil }
        return String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension Substring {
    /// This text without one character at its end.
    fileprivate func trimming(_ character: Character) -> Substring {
        last == character ? dropLast() : self
    }
}
