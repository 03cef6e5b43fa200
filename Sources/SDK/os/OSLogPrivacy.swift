import Foundation

/// Who may read a value in the log.
public struct OSLogPrivacy: Sendable {
    /// What is written instead of a private value.
    public enum Mask: Sendable {
        /// `<private>`.
        case none
        /// A hash: shows which values are equal, but not the values.
        case hash
    }

    enum Rule: Sendable {
        case auto
        case open
        case closed
        /// Closed even where private values are shown.
        case sealed
    }

    let rule: Rule
    let mask: Mask

    /// By the value's type: numbers are public, texts and objects are private.
    public static var auto: Self { Self(rule: .auto, mask: .none) }
    /// The log shows the value.
    public static var `public`: Self { Self(rule: .open, mask: .none) }
    /// The log shows a placeholder; a developer can show the value with `BGTASK_LOG_PRIVATE=1`, which
    /// `bgtask dev` sets.
    public static var `private`: Self { Self(rule: .closed, mask: .none) }
    /// The log shows a placeholder, even where a developer shows private values.
    public static var sensitive: Self { Self(rule: .sealed, mask: .none) }

    /// By the value's type, with a mask where it is private.
    ///
    /// - Parameter mask: What is written instead of the value.
    /// - Returns: The rule.
    public static func auto(mask: Mask) -> Self { Self(rule: .auto, mask: mask) }

    /// The log shows a mask; a developer can show the value with `BGTASK_LOG_PRIVATE=1`.
    ///
    /// - Parameter mask: What is written instead of the value.
    /// - Returns: The rule.
    public static func `private`(mask: Mask) -> Self { Self(rule: .closed, mask: mask) }

    /// The log shows a mask, even where a developer shows private values.
    ///
    /// - Parameter mask: What is written instead of the value.
    /// - Returns: The rule.
    public static func sensitive(mask: Mask) -> Self { Self(rule: .sealed, mask: mask) }

    /// Whether this process shows private values as they are: during development, by `BGTASK_LOG_PRIVATE=1`.
    ///
    /// Read once, at the first message.
    static let showsPrivateValues = ProcessInfo.processInfo.environment["BGTASK_LOG_PRIVATE"] == "1"

    /// The text as it goes into the log.
    ///
    /// - Parameters:
    ///   - text: The value.
    ///   - isPublic: What `auto` means for the value's type.
    /// - Returns: The text, or what is written instead.
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

/// Hashes of private values: the same in every launch on this machine, others on the next machine.
///
/// They distinguish values. A person with access to the machine can find a value by trying every likely one.
enum ValueHash {
    private static let salt: [UInt8] =
        FileManager.default.contents(atPath: "/etc/machine-id").map(Array.init) ?? []

    static func text(of value: String) -> String {
        // FNV-1a, 64 bits (Fowler, Noll, Vo; offset basis and prime as they publish them).
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in salt + Array(value.utf8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
