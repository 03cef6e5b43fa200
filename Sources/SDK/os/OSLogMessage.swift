import Foundation

/// A message whose values are private by default.
///
/// Interpolated texts and objects are private, numbers and Booleans public; the message's own words are
/// public.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
    let text: String

    /// A message without values.
    public init(stringLiteral value: String) { text = value }

    /// A message with values.
    public init(stringInterpolation: OSLogInterpolation) { text = stringInterpolation.text }
}

/// The values of a message.
public struct OSLogInterpolation: StringInterpolationProtocol, Sendable {
    private(set) var text: String

    /// Begins a message.
    public init(literalCapacity: Int, interpolationCount: Int) {
        text = ""
        text.reserveCapacity(literalCapacity + interpolationCount * 8)
    }

    /// Adds words of the message itself.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Adds a text; private unless said otherwise.
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> String, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.padded(privacy.shown(value(), isPublic: false))
    }

    /// Adds a text that is part of the program; public unless said otherwise.
    public mutating func appendInterpolation(
        _ value: StaticString, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.padded(privacy.shown(value.description, isPublic: true))
    }

    /// Adds a whole number; public unless said otherwise.
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> some FixedWidthInteger, format: OSLogIntegerFormatting = .decimal,
        align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.padded(privacy.shown(format.text(of: value()), isPublic: true))
    }

    /// Adds a number; public unless said otherwise.
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> Double, format: OSLogFloatFormatting = .fixed,
        align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.padded(privacy.shown(format.text(of: value()), isPublic: true))
    }

    /// Adds a number; public unless said otherwise.
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> Float, format: OSLogFloatFormatting = .fixed,
        align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.padded(privacy.shown(format.text(of: Double(value())), isPublic: true))
    }

    /// Adds true or false; public unless said otherwise.
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> Bool, format: OSLogBoolFormat = .truth, privacy: OSLogPrivacy = .auto
    ) {
        text += privacy.shown(format.text(of: value()), isPublic: true)
    }

    /// Adds what describes itself; private unless said otherwise.
    @_disfavoredOverload
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> some CustomStringConvertible, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        text += align.padded(privacy.shown(value().description, isPublic: false))
    }

    /// Adds an error; private unless said otherwise.
    @_disfavoredOverload
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> any Error, privacy: OSLogPrivacy = .auto
    ) {
        text += privacy.shown("\(value())", isPublic: false)
    }

    /// Adds a type's name; public unless said otherwise.
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> any Any.Type, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        text += align.padded(privacy.shown("\(value())", isPublic: true))
    }
}
