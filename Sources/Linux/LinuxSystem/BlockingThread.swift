import CLinuxShims
import Glibc

/// A thread for calls that block: the only place where the project starts threads of its own.
public enum BlockingThread {
    /// Starts a detached thread with every signal blocked.
    ///
    /// - Parameters:
    ///   - name: Shown by `ps -L`; cut to 15 bytes by the kernel.
    ///   - body: Runs on the thread; the thread ends when it returns.
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
            // Without its threads the host could neither hear nor report anything. Ending it lets a service
            // manager restart it.
            preconditionFailure("pthread_create(\(name)): \(SystemCallError.text(of: code)) (\(code))")
        }
    }

    /// Keeps the calling thread asleep until the process ends; its blocked signals stay blocked.
    public static func park() -> Never {
        while true { pause() }
    }

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}
