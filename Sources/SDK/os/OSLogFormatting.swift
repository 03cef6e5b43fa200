import Foundation

/// Where a value is in its column.
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
    private var radix = 10
    private var hasSign = false
    private var hasPrefix = false
    private var isUppercase = false
    private var digits = 0

    private init() {}

    /// In tens.
    public static var decimal: Self { Self() }
    /// In sixteens.
    public static var hex: Self { hex() }
    /// In eights.
    public static var octal: Self { octal() }

    /// In tens.
    ///
    /// - Parameters:
    ///   - explicitPositiveSign: Whether numbers that are not negative begin with `+`.
    ///   - minDigits: The least count of digits; zeros lead.
    /// - Returns: The format.
    public static func decimal(explicitPositiveSign: Bool = false, minDigits: Int = 0) -> Self {
        var format = Self()
        format.hasSign = explicitPositiveSign
        format.digits = minDigits
        return format
    }

    /// In sixteens.
    ///
    /// - Parameters:
    ///   - explicitPositiveSign: Whether numbers that are not negative begin with `+`.
    ///   - includePrefix: Whether it begins with `0x`.
    ///   - uppercase: Whether its letters are capitals.
    ///   - minDigits: The least count of digits; zeros lead.
    /// - Returns: The format.
    public static func hex(
        explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false,
        minDigits: Int = 0
    ) -> Self {
        var format = decimal(explicitPositiveSign: explicitPositiveSign, minDigits: minDigits)
        format.radix = 16
        format.hasPrefix = includePrefix
        format.isUppercase = uppercase
        return format
    }

    /// In eights.
    ///
    /// - Parameters:
    ///   - explicitPositiveSign: Whether numbers that are not negative begin with `+`.
    ///   - includePrefix: Whether it begins with `0o`.
    ///   - uppercase: Has no effect: there are no letters.
    ///   - minDigits: The least count of digits; zeros lead.
    /// - Returns: The format.
    public static func octal(
        explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false,
        minDigits: Int = 0
    ) -> Self {
        var format = decimal(explicitPositiveSign: explicitPositiveSign, minDigits: minDigits)
        format.radix = 8
        format.hasPrefix = includePrefix
        return format
    }

    func text(of value: some FixedWidthInteger) -> String {
        let digits = String(value.magnitude, radix: radix, uppercase: isUppercase)
        let zeros = String(repeating: "0", count: max(0, self.digits - digits.count))
        let sign = value < 0 ? "-" : hasSign ? "+" : ""
        let prefix = hasPrefix ? radix == 16 ? "0x" : radix == 8 ? "0o" : "" : ""
        return sign + prefix + zeros + digits
    }
}

/// How a number is written.
public struct OSLogFloatFormatting: Sendable {
    private let conversion: String

    private init(
        _ conversion: Character, precision: Int? = nil, hasSign: Bool = false, isUppercase: Bool = false
    ) {
        let letter = isUppercase ? conversion.uppercased() : "\(conversion)"
        self.conversion = "%" + (hasSign ? "+" : "") + (precision.map { ".\(max(0, $0))" } ?? "") + letter
    }

    /// In fixed notation, with six decimals.
    public static var fixed: Self { Self("f") }
    /// In fixed or exponential notation, whichever is shorter.
    public static var hybrid: Self { Self("g") }
    /// With a power of ten.
    public static var exponential: Self { Self("e") }
    /// In sixteens.
    public static var hex: Self { Self("a") }

    /// With this number of digits after the point.
    ///
    /// - Parameters:
    ///   - precision: The digits.
    ///   - explicitPositiveSign: Whether numbers that are not negative begin with `+`.
    ///   - uppercase: Whether its letters, as those of infinity, are capitals.
    /// - Returns: The format.
    public static func fixed(
        precision: Int = 6, explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> Self {
        Self("f", precision: precision, hasSign: explicitPositiveSign, isUppercase: uppercase)
    }

    /// As short as possible with this number of digits.
    ///
    /// - Parameters:
    ///   - precision: The digits.
    ///   - explicitPositiveSign: Whether numbers that are not negative begin with `+`.
    ///   - uppercase: Whether its letters are capitals.
    /// - Returns: The format.
    public static func hybrid(
        precision: Int = 6, explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> Self {
        Self("g", precision: precision, hasSign: explicitPositiveSign, isUppercase: uppercase)
    }

    /// With a power of ten and this number of digits.
    ///
    /// - Parameters:
    ///   - precision: The digits.
    ///   - explicitPositiveSign: Whether numbers that are not negative begin with `+`.
    ///   - uppercase: Whether its letters are capitals.
    /// - Returns: The format.
    public static func exponential(
        precision: Int = 6, explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> Self {
        Self("e", precision: precision, hasSign: explicitPositiveSign, isUppercase: uppercase)
    }

    /// In sixteens.
    ///
    /// - Parameters:
    ///   - explicitPositiveSign: Whether numbers that are not negative begin with `+`.
    ///   - uppercase: Whether its letters are capitals.
    /// - Returns: The format.
    public static func hex(explicitPositiveSign: Bool = false, uppercase: Bool = false) -> Self {
        Self("a", hasSign: explicitPositiveSign, isUppercase: uppercase)
    }

    func text(of value: Double) -> String { String(format: conversion, value) }
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
