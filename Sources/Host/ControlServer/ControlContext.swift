import Hummingbird
import NIOCore

/// The context of one request: the library's context, and the process that sent the request.
struct ControlContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// The number of the process that opened the connection; 0 until ``PeerMiddleware`` sets it, and for a
    /// process outside the host's PID namespace.
    var peer: Int32 = 0
    /// What the client may do; ``PeerMiddleware`` sets it.
    var power = ControlPower.all

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
