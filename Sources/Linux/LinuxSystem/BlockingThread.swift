import CLinuxShims
import Glibc

/// Threads for blocking calls; the project starts its own threads only here.
public enum BlockingThread {
    /// Starts a detached thread with all signals blocked.
    ///
    /// - Parameters:
    ///   - name: The name that `ps -L` shows; cut to 15 characters.
    ///   - body: Runs on the thread, which ends when `body` returns.
    public static func start(named name: String, _ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Start(name: name, body: body))
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
        if code != 0 {
            box.release()
            // Without its threads, the host could neither receive nor report anything. If it ends, a service
            // manager can restart it.
            preconditionFailure("pthread_create(\(name)): \(SystemCallError.text(of: code)) (\(code))")
        }
    }

    /// Blocks the calling thread until the process ends.
    public static func park() -> Never {
        while true { _ = Glibc.pause() }
    }

    /// Blocks the calling thread for a time, for an attempt that failed because the machine lacks something.
    public static func pause(milliseconds: CInt) { _ = poll(nil, 0, milliseconds) }

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}
