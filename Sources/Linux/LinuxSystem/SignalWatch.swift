import CLinuxShims
import Glibc

/// Delivers signals to the process as a stream; a thread reads them, instead of a signal handler.
public final class SignalWatch: Sendable {
    /// The signals that arrived, in order.
    public let signals: AsyncStream<Int32>

    /// Blocks signals for the calling thread and all threads that it starts later.
    ///
    /// Call this on the main thread before any other thread exists. Otherwise, the kernel may deliver a
    /// signal to a thread that does not block it, and the default action ends the process.
    public static func block(_ numbers: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers {
            // A shell starts background jobs with SIGINT ignored, and sigwait never returns an ignored
            // signal.
            signal(number, SIG_DFL)
            sigaddset(&set, number)
        }
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Starts a thread that reads signals, which ``block(_:)`` must have blocked.
    public init(_ numbers: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        let blocked = set
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        signals = stream
        BlockingThread.start(named: "bgtask-signals") {
            var waited = blocked
            while true {
                var number: Int32 = 0
                if sigwait(&waited, &number) == 0 { continuation.yield(number) }
            }
        }
    }

    /// Ignores SIGPIPE and SIGXFSZ: a broken pipe or an exceeded file size becomes an error of the system
    /// call instead of ending the process.
    public static func ignorePipeAndFileSizeSignals() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// The signal of Ctrl-C.
    public static let interrupt: Int32 = SIGINT
    /// The signal with which a service manager stops a service.
    public static let terminate: Int32 = SIGTERM
    /// The signal that reports a closed terminal.
    public static let hangUp: Int32 = SIGHUP
}
