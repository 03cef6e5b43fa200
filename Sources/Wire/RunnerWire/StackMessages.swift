/// The host requests the stack of a thread of the task.
public struct SampleMessage: WireMessage {
    public static let kind: UInt8 = 0x12
    public static let table = FieldTable(.required(1, .u64))
    /// The value of ``thread`` that means the main thread, whatever its number is.
    public static let mainThread: UInt64 = 0
    /// The value of ``thread`` that means all threads, one after the other.
    public static let allThreads = UInt64.max
    /// The number of the thread in the task's own PID namespace, or ``mainThread`` or ``allThreads``.
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
        addresses = try StackBytes.addresses(in: values[2])
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, thread)
        fields.write(2, StackBytes.bytes(of: addresses))
    }
}

/// The task got a fatal signal, and waits up to 2 s before it ends.
///
/// The host should read its memory map, and then send ``SampleMessage`` for all threads, which ends the wait.
public struct CrashMessage: WireMessage {
    public static let kind: UInt8 = 0x2C
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .u64), .optional(3, .u64),
        .required(4, .bytes, limit: StackMessage.maximumFrames * 8), .optional(5, .text, limit: 1024))
    /// The number of the signal.
    public var signal: UInt64
    /// The number of the thread that got it, in the task's own PID namespace.
    public var thread: UInt64
    /// The address that the fatal instruction used; `nil` if no instruction caused the signal.
    public var address: UInt64?
    /// The address of the fatal instruction, then the return addresses, innermost first.
    public var addresses: [UInt64]
    /// What the task did, in words, such as the step of a `call:`; `nil` if it did not say.
    public var activity: String?

    public init(
        signal: UInt64, thread: UInt64, address: UInt64?, addresses: [UInt64], activity: String? = nil
    ) {
        self.signal = signal
        self.thread = thread
        self.address = address
        self.addresses = addresses
        self.activity = activity
    }

    public init(_ values: FieldValues) throws(WireError) {
        signal = values[1]
        thread = values[2]
        address = values[3]
        addresses = try StackBytes.addresses(in: values[4])
        activity = values[5]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, signal)
        fields.write(2, thread)
        fields.write(3, address)
        fields.write(4, StackBytes.bytes(of: addresses))
        fields.write(5, activity)
    }
}

/// The addresses of a stack in a field: eight bytes each, little-endian.
enum StackBytes {
    static func addresses(in bytes: [UInt8]) throws(WireError) -> [UInt64] {
        guard bytes.count % 8 == 0 else {
            throw WireError(.fieldLength, "a stack of \(bytes.count) bytes is not a list of addresses")
        }
        return stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
    }

    static func bytes(of addresses: [UInt64]) -> [UInt8] {
        addresses.flatMap { address in (0..<8).map { UInt8(truncatingIfNeeded: address >> ($0 * 8)) } }
    }
}
