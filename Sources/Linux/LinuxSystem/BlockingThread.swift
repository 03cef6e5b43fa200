import CLinuxShims
import Dispatch
import Glibc

/// Threads for blocking calls; the project starts its own threads only here.
public enum BlockingThread {
    /// How long a thread that the machine can't give is waited for: our choice.
    private static let pauseBetweenAttempts = DispatchTimeInterval.milliseconds(100)

    /// Starts a detached thread with all signals blocked.
    ///
    /// If the machine has no thread at present, because of a limit of processes or for lack of memory, the
    /// thread starts when there is one; a line on standard error says so. The caller does not wait.
    ///
    /// - Parameters:
    ///   - name: The name that `ps -L` shows; cut to 15 characters.
    ///   - body: Runs on the thread, which ends when `body` returns.
    public static func start(named name: String, _ body: @escaping @Sendable () -> Void) {
        start(Start(name: name, body: body), isFirst: true, by: create)
    }

    /// Starts a thread by a function that returns an error number; for tests.
    static func start(
        named name: String, by create: @escaping @Sendable (Start) -> CInt,
        _ body: @escaping @Sendable () -> Void
    ) {
        start(Start(name: name, body: body), isFirst: true, by: create)
    }

    private static func start(
        _ thread: Start, isFirst: Bool, by create: @escaping @Sendable (Start) -> CInt
    ) {
        let code = create(thread)
        if code == 0 { return }
        let finding = "pthread_create(\(thread.name)): \(SystemCallError.text(of: code)) (\(code))"
        precondition(code == EAGAIN || code == ENOMEM, finding)
        if isFirst { say("\(finding); trying again until the machine has a thread") }
        DispatchQueue.global().asyncAfter(deadline: .now() + pauseBetweenAttempts) {
            start(thread, isFirst: false, by: create)
        }
    }

    static func create(_ start: Start) -> CInt {
        let box = Unmanaged.passRetained(start)
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        let code = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                var all = sigset_t()
                sigfillset(&all)
                pthread_sigmask(SIG_SETMASK, &all, nil)
                lx_name_thread(String(start.name.prefix(15)))
                start.body()
                return nil
            }, box.toOpaque())
        if code != 0 { box.release() }
        return code
    }

    /// Writes a line to standard error, unless that would block.
    private static func say(_ line: String) {
        var state = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard poll(&state, 1, 0) == 1, state.revents == Int16(POLLOUT) else { return }
        let bytes = Array("\(line)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }

    /// Blocks the calling thread until the process ends.
    public static func park() -> Never {
        while true { _ = Glibc.pause() }
    }

    /// Blocks the calling thread for a time, for an attempt that failed because the machine lacks something.
    public static func pause(milliseconds: CInt) { _ = poll(nil, 0, milliseconds) }

    /// A thread to be.
    final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}
