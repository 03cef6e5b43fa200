import Hummingbird
import NIOCore

/// What a route knows besides the request: the connection that it came on.
struct ControlContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// The process at the other end, by its number while the request is answered; 0 before that is known, or
    /// outside of our PID namespace.
    var peer: Int32 = 0

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
