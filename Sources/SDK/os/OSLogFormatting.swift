import Foundation

/// Where a value stands in its column.
public struct OSLogStringAlignment: Sendable {
    private let columns: Int
    private let isRight: Bool

    /// No column.
    public static var none: Self { Self(columns: 0, isRight: false) }

    /// To the left.
    ///
    /// - Parameter columns: The width, in characters.
    /// - Returns: The alignment.
    public static func left(columns: Int) -> Self { Self(columns: columns, isRight: false) }

    /// To the right.
    ///
    /// - Parameter columns: The width, in characters.
    /// - Returns: The alignment.
    public static func right(columns: Int) -> Self { Self(columns: columns, isRight: true) }

    func padded(_ text: String) -> String {
        let missing = columns - text.count
        guard missing > 0 else { return text }
        let spaces = String(repeating: " ", count: missing)
        return isRight ? spaces + text : text + spaces
    }
}

/// How a whole number is written.
public struct OSLogIntegerFormatting: Sendable {
    private let radix: Int
    private let isUppercase: Bool
    private let hasPrefix: Bool
    private let digits: Int

    /// In tens.
    public static var decimal: Self { Self(radix: 10, isUppercase: false, hasPrefix: false, digits: 0) }
    /// In sixteens.
    public static var hex: Self { Self(radix: 16, isUppercase: false, hasPrefix: false, digits: 0) }
    /// In eights.
    public static var octal: Self { Self(radix: 8, isUppercase: false, hasPrefix: false, digits: 0) }

    /// In tens, with leading zeros.
    ///
    /// - Parameter minDigits: The least count of digits.
    /// - Returns: The format.
    public static func decimal(minDigits: Int) -> Self {
        Self(radix: 10, isUppercase: false, hasPrefix: false, digits: minDigits)
    }

    /// In sixteens.
    ///
    /// - Parameters:
    ///   - explicitPositiveSign: Not used.
    ///   - includePrefix: Whether `0x` stands before it.
    ///   - uppercase: Whether its letters are capitals.
    ///   - minDigits: The least count of digits.
    /// - Returns: The format.
    public static func hex(
        explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false,
        minDigits: Int = 0
    ) -> Self {
        Self(radix: 16, isUppercase: uppercase, hasPrefix: includePrefix, digits: minDigits)
    }

    func text(of value: some FixedWidthInteger) -> String {
        let digits = String(value.magnitude, radix: radix, uppercase: isUppercase)
        let zeros = String(repeating: "0", count: max(0, self.digits - digits.count))
        return (value < 0 ? "-" : "") + (hasPrefix && radix == 16 ? "0x" : "") + zeros + digits
    }
}

/// How a number is written.
public struct OSLogFloatFormatting: Sendable {
    private let conversion: String
    private let precision: Int?

    /// With six digits behind the point.
    public static var fixed: Self { Self(conversion: "f", precision: nil) }
    /// As short as it can be.
    public static var hybrid: Self { Self(conversion: "g", precision: nil) }
    /// With a power of ten.
    public static var exponential: Self { Self(conversion: "e", precision: nil) }
    /// In sixteens.
    public static var hex: Self { Self(conversion: "a", precision: nil) }

    /// With so many digits behind the point.
    ///
    /// - Parameter precision: The digits.
    /// - Returns: The format.
    public static func fixed(precision: Int) -> Self { Self(conversion: "f", precision: precision) }

    /// As short as it can be with so many digits.
    ///
    /// - Parameter precision: The digits.
    /// - Returns: The format.
    public static func hybrid(precision: Int) -> Self { Self(conversion: "g", precision: precision) }

    /// With a power of ten and so many digits.
    ///
    /// - Parameter precision: The digits.
    /// - Returns: The format.
    public static func exponential(precision: Int) -> Self { Self(conversion: "e", precision: precision) }

    func text(of value: Double) -> String {
        String(format: "%" + (precision.map { ".\(max(0, $0))" } ?? "") + conversion, value)
    }
}

/// How a Boolean is written.
public enum OSLogBoolFormat: Sendable {
    /// `true` and `false`.
    case truth
    /// `yes` and `no`.
    case answer

    func text(of value: Bool) -> String {
        switch self {
        case .truth: value ? "true" : "false"
        case .answer: value ? "yes" : "no"
        }
    }
}
