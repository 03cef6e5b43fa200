import Foundation

/// A log message.
///
/// The literal text of the message is public. By default, interpolated texts and objects are private, and
/// numbers and Booleans are public.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
    let text: String

    /// Creates a message without values.
    public init(stringLiteral value: String) { text = value }

    /// Creates a message with values.
    public init(stringInterpolation: OSLogInterpolation) { text = stringInterpolation.text }
}

/// Collects the literal text and the values of a message.
public struct OSLogInterpolation: StringInterpolationProtocol, Sendable {
    private(set) var text: String

    /// Begins an empty message.
    public init(literalCapacity: Int, interpolationCount: Int) {
        text = ""
        text.reserveCapacity(literalCapacity + interpolationCount * 8)
    }

    /// Adds a part of the literal text.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Adds a text; private by default.
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> String, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.padded(privacy.shown(value(), isPublic: false))
    }

    /// Adds a text that is part of the program; public by default.
    public mutating func appendInterpolation(
        _ value: StaticString, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.padded(privacy.shown(value.description, isPublic: true))
    }

    /// Adds an integer; public by default.
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> some FixedWidthInteger, format: OSLogIntegerFormatting = .decimal,
        align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.padded(privacy.shown(format.text(of: value()), isPublic: true))
    }

    /// Adds a floating-point number; public by default.
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> Double, format: OSLogFloatFormatting = .fixed,
        align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.padded(privacy.shown(format.text(of: value()), isPublic: true))
    }

    /// Adds a floating-point number; public by default.
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> Float, format: OSLogFloatFormatting = .fixed,
        align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.padded(privacy.shown(format.text(of: Double(value())), isPublic: true))
    }

    /// Adds a Boolean; public by default.
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> Bool, format: OSLogBoolFormat = .truth, privacy: OSLogPrivacy = .auto
    ) {
        text += privacy.shown(format.text(of: value()), isPublic: true)
    }

    /// Adds the description of an object; private by default.
    @_disfavoredOverload
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> some CustomStringConvertible, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        text += align.padded(privacy.shown(value().description, isPublic: false))
    }

    /// Adds an error; private by default.
    @_disfavoredOverload
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> any Error, privacy: OSLogPrivacy = .auto
    ) {
        text += privacy.shown("\(value())", isPublic: false)
    }

    /// Adds an error, or `(null)` if there is none; private by default.
    @_disfavoredOverload
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> (any Error)?, privacy: OSLogPrivacy = .auto
    ) {
        text += privacy.shown(value().map { "\($0)" } ?? "(null)", isPublic: false)
    }

    /// Adds the name of a type; public by default.
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> any Any.Type, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        text += align.padded(privacy.shown("\(value())", isPublic: true))
    }
}
