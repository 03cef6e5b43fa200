import Foundation

/// The alignment of a value in a column.
public struct OSLogStringAlignment: Sendable {
    private let columns: Int
    private let isRight: Bool

    /// No column: the value is not padded.
    public static var none: Self { Self(columns: 0, isRight: false) }

    /// Alignment to the left; spaces follow the value.
    ///
    /// - Parameter columns: The width, in characters.
    /// - Returns: The alignment.
    public static func left(columns: Int) -> Self { Self(columns: columns, isRight: false) }

    /// Alignment to the right; spaces precede the value.
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

/// The format of an integer.
public struct OSLogIntegerFormatting: Sendable {
    private var radix = 10
    private var hasSign = false
    private var hasPrefix = false
    private var isUppercase = false
    private var digits = 0

    private init() {}

    /// Base 10.
    public static var decimal: Self { Self() }
    /// Base 16.
    public static var hex: Self { hex() }
    /// Base 8.
    public static var octal: Self { octal() }

    /// Base 10, with options.
    ///
    /// - Parameters:
    ///   - explicitPositiveSign: Whether numbers that are not negative begin with `+`.
    ///   - minDigits: The smallest number of digits; zeros are added in front.
    /// - Returns: The format.
    public static func decimal(explicitPositiveSign: Bool = false, minDigits: Int = 0) -> Self {
        var format = Self()
        format.hasSign = explicitPositiveSign
        format.digits = minDigits
        return format
    }

    /// Base 16, with options.
    ///
    /// - Parameters:
    ///   - explicitPositiveSign: Whether numbers that are not negative begin with `+`.
    ///   - includePrefix: Whether `0x` precedes the digits.
    ///   - uppercase: Whether the digits A to F are upper-case.
    ///   - minDigits: The smallest number of digits; zeros are added in front.
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

    /// Base 8, with options.
    ///
    /// - Parameters:
    ///   - explicitPositiveSign: Whether numbers that are not negative begin with `+`.
    ///   - includePrefix: Whether `0o` precedes the digits.
    ///   - uppercase: Has no effect.
    ///   - minDigits: The smallest number of digits; zeros are added in front.
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

/// The format of a floating-point number.
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
    /// In exponential notation.
    public static var exponential: Self { Self("e") }
    /// In hexadecimal notation.
    public static var hex: Self { Self("a") }

    /// In fixed notation, with options.
    ///
    /// - Parameters:
    ///   - precision: The number of digits after the decimal point.
    ///   - explicitPositiveSign: Whether numbers that are not negative begin with `+`.
    ///   - uppercase: Whether letters, such as those of infinity, are upper-case.
    /// - Returns: The format.
    public static func fixed(
        precision: Int = 6, explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> Self {
        Self("f", precision: precision, hasSign: explicitPositiveSign, isUppercase: uppercase)
    }

    /// In fixed or exponential notation, whichever is shorter, with options.
    ///
    /// - Parameters:
    ///   - precision: The largest number of significant digits.
    ///   - explicitPositiveSign: Whether numbers that are not negative begin with `+`.
    ///   - uppercase: Whether letters are upper-case.
    /// - Returns: The format.
    public static func hybrid(
        precision: Int = 6, explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> Self {
        Self("g", precision: precision, hasSign: explicitPositiveSign, isUppercase: uppercase)
    }

    /// In exponential notation, with options.
    ///
    /// - Parameters:
    ///   - precision: The number of digits after the decimal point.
    ///   - explicitPositiveSign: Whether numbers that are not negative begin with `+`.
    ///   - uppercase: Whether letters are upper-case.
    /// - Returns: The format.
    public static func exponential(
        precision: Int = 6, explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> Self {
        Self("e", precision: precision, hasSign: explicitPositiveSign, isUppercase: uppercase)
    }

    /// In hexadecimal notation, with options.
    ///
    /// - Parameters:
    ///   - explicitPositiveSign: Whether numbers that are not negative begin with `+`.
    ///   - uppercase: Whether letters are upper-case.
    /// - Returns: The format.
    public static func hex(explicitPositiveSign: Bool = false, uppercase: Bool = false) -> Self {
        Self("a", hasSign: explicitPositiveSign, isUppercase: uppercase)
    }

    func text(of value: Double) -> String { String(format: conversion, value) }
}

/// The format of a Boolean.
public enum OSLogBoolFormat: Sendable {
    /// The words `true` and `false`.
    case truth
    /// The words `yes` and `no`.
    case answer

    func text(of value: Bool) -> String {
        switch self {
        case .truth: value ? "true" : "false"
        case .answer: value ? "yes" : "no"
        }
    }
}
