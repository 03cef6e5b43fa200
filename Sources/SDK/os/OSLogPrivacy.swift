import Foundation

/// Whether the log shows an interpolated value.
public struct OSLogPrivacy: Sendable {
    /// The text that the log shows instead of a private value.
    public enum Mask: Sendable {
        /// The text `<private>`, which reveals nothing about the value.
        case none
        /// A hash, which reveals whether two values are equal, but not the values.
        case hash
    }

    enum Rule: Sendable {
        case auto
        case open
        case closed
        /// Private, even in a process that shows private values.
        case sealed
    }

    let rule: Rule
    let mask: Mask

    /// The type of the value decides: numbers are public, texts and objects are private.
    public static var auto: Self { Self(rule: .auto, mask: .none) }
    /// The log shows the value.
    public static var `public`: Self { Self(rule: .open, mask: .none) }
    /// The log shows a placeholder.
    ///
    /// A developer can show the value with `BGTASK_LOG_PRIVATE=1`, which `bgtask dev` sets.
    public static var `private`: Self { Self(rule: .closed, mask: .none) }
    /// The log shows a placeholder, even with `BGTASK_LOG_PRIVATE=1`.
    public static var sensitive: Self { Self(rule: .sealed, mask: .none) }

    /// The type of the value decides; if it is private, the log shows a mask.
    ///
    /// - Parameter mask: The text to show instead of the value.
    /// - Returns: The privacy option.
    public static func auto(mask: Mask) -> Self { Self(rule: .auto, mask: mask) }

    /// The log shows a mask; a developer can show the value with `BGTASK_LOG_PRIVATE=1`.
    ///
    /// - Parameter mask: The text to show instead of the value.
    /// - Returns: The privacy option.
    public static func `private`(mask: Mask) -> Self { Self(rule: .closed, mask: mask) }

    /// The log shows a mask, even with `BGTASK_LOG_PRIVATE=1`.
    ///
    /// - Parameter mask: The text to show instead of the value.
    /// - Returns: The privacy option.
    public static func sensitive(mask: Mask) -> Self { Self(rule: .sealed, mask: mask) }

    /// Whether this process shows private values, because `BGTASK_LOG_PRIVATE=1` is set.
    ///
    /// The environment is read once, at the first message.
    static let showsPrivateValues = ProcessInfo.processInfo.environment["BGTASK_LOG_PRIVATE"] == "1"

    /// The text that the log shows for a value.
    ///
    /// - Parameters:
    ///   - text: The value as text.
    ///   - isPublic: Whether a value of this type is public with the option `auto`.
    /// - Returns: The value, or the text to show instead.
    func shown(_ text: String, isPublic: Bool) -> String {
        switch rule {
        case .open: text
        case .auto where isPublic || Self.showsPrivateValues: text
        case .closed where Self.showsPrivateValues: text
        case .auto, .closed, .sealed:
            switch mask {
            case .none: "<private>"
            case .hash: "<mask.hash: '\(ValueHash.text(of: text))'>"
            }
        }
    }
}

/// Hashes of private values, which are the same in every launch on this machine and different on other
/// machines.
///
/// A hash does not hide a value completely: a person with access to the machine can try all likely values.
enum ValueHash {
    private static let salt: [UInt8] =
        FileManager.default.contents(atPath: "/etc/machine-id").map(Array.init) ?? []

    static func text(of value: String) -> String {
        // FNV-1a with 64 bits (Fowler, Noll and Vo), with the published offset basis and prime.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in salt + Array(value.utf8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
