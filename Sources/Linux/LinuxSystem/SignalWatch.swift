import CLinuxShims
import Glibc

/// Signals of the process as a stream, read by a thread instead of a handler.
public final class SignalWatch: Sendable {
    /// The signals that came, in order.
    public let signals: AsyncStream<Int32>

    /// Blocks signals for the calling thread and all that it starts later.
    ///
    /// Call it on the main thread before anything has started another: a thread that does not block a signal
    /// is where the kernel delivers it, and its default action ends the process.
    public static func block(_ numbers: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers {
            // A shell starts background jobs with Ctrl-C ignored, and an ignored signal is never seen.
            signal(number, SIG_DFL)
            sigaddset(&set, number)
        }
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Reads signals that ``block(_:)`` blocked, on a thread of its own.
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

    /// Makes a broken pipe or a file size limit an error of the call instead of the end of the process.
    public static func ignorePipeAndFileSizeSignals() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Ctrl-C.
    public static let interrupt: Int32 = SIGINT
    /// A service manager's stop.
    public static let terminate: Int32 = SIGTERM
    /// A terminal that went away.
    public static let hangUp: Int32 = SIGHUP
}
