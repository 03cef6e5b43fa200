/// The bytes that a launch received and sent, in whole packets from the IP header on.
public struct NetworkBytes: Equatable, Sendable {
    /// The bytes of the packets that its sockets received.
    public var received: ByteCount
    /// The bytes of the packets that its sockets sent, repeated ones included.
    public var sent: ByteCount

    public init(received: ByteCount, sent: ByteCount) {
        self.received = received
        self.sent = sent
    }
}
