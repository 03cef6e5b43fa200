/// The host wants to know where a thread of the task is.
public struct SampleMessage: WireMessage {
    public static let kind: UInt8 = 0x12
    public static let table = FieldTable(.required(1, .u64))
    /// The number by which the main thread is asked, whatever its own is.
    public static let mainThread: UInt64 = 0
    /// The thread, by its number in the task's own PID namespace; ``mainThread`` for the main thread.
    public var thread: UInt64

    public init(thread: UInt64) { self.thread = thread }

    public init(_ values: FieldValues) throws(WireError) { thread = values[1] }

    public func write(to fields: inout FieldWriter) { fields.write(1, thread) }
}

/// Where a thread of the task was when it was asked.
public struct StackMessage: WireMessage {
    public static let kind: UInt8 = 0x28
    public static let table = FieldTable(.required(1, .u64), .required(2, .bytes, limit: maximumFrames * 8))
    /// The most frames of a stack.
    public static let maximumFrames = 64
    /// The thread, as *sample* named it.
    public var thread: UInt64
    /// Where it was, then the return addresses, innermost first.
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
