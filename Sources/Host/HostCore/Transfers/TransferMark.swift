/// How far an attempt was when it began, and which of its bytes are counted.
struct TransferMark: Sendable {
    /// The bytes of the file at the beginning.
    let begun: Int64
    /// The counted bytes that were received.
    var received: Int64 = 0
    /// The counted bytes that were sent.
    var sent: Int64 = 0
}
