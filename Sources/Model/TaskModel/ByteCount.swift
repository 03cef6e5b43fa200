/// A number of bytes.
public struct ByteCount: Hashable, Comparable, Sendable, CustomStringConvertible, Codable {
    /// The number of bytes; never negative.
    public let bytes: Int64

    /// Makes a count; a negative number counts as 0.
    public init(bytes: Int64) {
        self.bytes = max(0, bytes)
    }

    /// A count in KiB.
    public static func kibibytes(_ count: Int64) -> Self { Self(bytes: count << 10) }
    /// A count in MiB.
    public static func mebibytes(_ count: Int64) -> Self { Self(bytes: count << 20) }
    /// A count in GiB.
    public static func gibibytes(_ count: Int64) -> Self { Self(bytes: count << 30) }

    /// Orders by size.
    public static func < (left: Self, right: Self) -> Bool { left.bytes < right.bytes }

    /// The count with the largest unit that divides it: `256 MiB`, `1536 KiB`, `100 B`.
    public var description: String {
        if bytes == 0 { return "0 B" }
        for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")]
        where bytes & ((1 << Int64(shift)) - 1) == 0 {
            return "\(bytes >> Int64(shift)) \(unit)"
        }
        return "\(bytes) B"
    }
}
