/// The host requests the stack of a thread of the task.
public struct SampleMessage: WireMessage {
    public static let kind: UInt8 = 0x12
    public static let table = FieldTable(.required(1, .u64))
    /// The value of ``thread`` that means the main thread, whatever its number is.
    public static let mainThread: UInt64 = 0
    /// The number of the thread in the task's own PID namespace, or ``mainThread``.
    public var thread: UInt64

    public init(thread: UInt64) { self.thread = thread }

    public init(_ values: FieldValues) throws(WireError) { thread = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, thread) }
}

/// The stack of a thread: the task's answer to ``SampleMessage``.
public struct StackMessage: WireMessage {
    public static let kind: UInt8 = 0x28
    public static let table = FieldTable(.required(1, .u64), .required(2, .bytes, limit: maximumFrames * 8))
    /// The largest number of addresses in a stack.
    public static let maximumFrames = 64
    /// The value of ``SampleMessage/thread``.
    public var thread: UInt64
    /// The address that the thread was executing, then the return addresses, innermost first.
    public var addresses: [UInt64]

    public init(thread: UInt64, addresses: [UInt64]) {
        self.thread = thread
        self.addresses = addresses
    }

    public init(_ values: FieldValues) throws(WireError) {
        thread = values[1]
        let bytes: [UInt8] = values[2]
        guard bytes.count % 8 == 0 else {
            throw WireError(.fieldLength, "a stack of \(bytes.count) bytes is not a list of addresses")
        }
        addresses = stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, thread)
        fields.write(
            2, addresses.flatMap { address in (0..<8).map { UInt8(truncatingIfNeeded: address >> ($0 * 8)) } }
        )
    }
}
