/// The bytes of one bundle's transfers on one day.
public struct TransferBytes: Equatable, Sendable {
    /// Bytes of bodies that were received.
    public var received: Int64 = 0
    /// Bytes of bodies that were sent.
    public var sent: Int64 = 0
    /// How many of the received bytes came by a metered network.
    public var meteredReceived: Int64 = 0
    /// How many of the sent bytes went by a metered network.
    public var meteredSent: Int64 = 0

    /// The bytes in both directions by a metered network.
    public var metered: Int64 { meteredReceived + meteredSent }

    /// Creates an account without bytes.
    public init() {}

    /// Creates an account.
    public init(received: Int64, sent: Int64, meteredReceived: Int64, meteredSent: Int64) {
        self.received = received
        self.sent = sent
        self.meteredReceived = meteredReceived
        self.meteredSent = meteredSent
    }

    /// Adds bytes.
    public mutating func add(received: Int64, sent: Int64, isMetered: Bool) {
        self.received.addBounded(received)
        self.sent.addBounded(sent)
        if isMetered {
            meteredReceived.addBounded(received)
            meteredSent.addBounded(sent)
        }
    }
}

/// The bytes of one bundle's transfers on the last days.
public struct TransferUse: Equatable, Sendable {
    /// The number of days that are kept.
    public static let keptDays: Int64 = 35

    /// The bytes by local day, as days since 1970.
    public private(set) var days: [Int64: TransferBytes] = [:]

    /// Creates a use; without arguments, one without bytes.
    public init(days: [Int64: TransferBytes] = [:]) { self.days = days }

    /// Adds bytes to a day, and forgets old days.
    public mutating func add(received: Int64, sent: Int64, isMetered: Bool, on day: Int64) {
        days[day, default: TransferBytes()].add(received: received, sent: sent, isMetered: isMetered)
        days = days.filter { $0.key > day - Self.keptDays }
    }
}

extension Int64 {
    /// Adds a number of bytes; the sum is at most 2^60, whatever a program claims to have moved.
    public mutating func addBounded(_ bytes: Int64) {
        let (sum, isTooLarge) = addingReportingOverflow(bytes)
        self = isTooLarge ? 1 << 60 : Swift.min(sum, 1 << 60)
    }
}
