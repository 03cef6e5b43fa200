import LinuxSystem
import StrictFiles
public import TaskModel

/// What a setting may be, how it is written and how it is read.
public enum SettingKind: Sendable {
    /// With a unit, `15m`; inclusive bounds.
    case duration(ClosedRange<Duration>)
    /// A whole number.
    case integer(ClosedRange<Int>)
    /// A number with or without a point.
    case decimal(ClosedRange<Double>)
    /// `true` or `false`.
    case bool
    /// One of a few words.
    case word([String])
    /// An absolute path, or one that begins with `~/`.
    case path
    /// With a unit, `64MiB`.
    case size(ClosedRange<ByteCount>)

    /// Whether values are paths.
    var isPath: Bool {
        if case .path = self { true } else { false }
    }

    /// What may be written, for people: `duration, 1s to 1h`.
    public var summary: String {
        switch self {
        case .duration(let range):
            "duration, \(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
        case .integer(let range): "whole number, \(range.lowerBound) to \(range.upperBound)"
        case .decimal(let range):
            "number, \(Self.text(of: range.lowerBound)) to \(Self.text(of: range.upperBound))"
        case .bool: "true or false"
        case .word(let words): words.joined(separator: ", ")
        case .path: "absolute path, or ~/..."
        case .size(let range):
            "size, \(Self.text(of: range.lowerBound)) to \(Self.text(of: range.upperBound))"
        }
    }

    /// The value of a node in the one form that ``SettingKey`` takes; `nil` after saying what is wrong with
    /// it.
    func text(of node: YAMLNode, _ what: String, _ problems: ProblemList) -> String? {
        switch self {
        case .duration(let range): node.duration(what, in: range, problems).map(DurationText.format)
        case .integer(let range): node.integer(what, in: range, problems).map(String.init)
        case .decimal(let range): node.decimal(what, in: range, problems).map(Self.text(of:))
        case .bool: node.bool(what, problems).map(String.init)
        case .word(let words): node.word(what, among: words, problems)
        case .path: path(node, what, problems)
        case .size(let range): node.size(what, in: range, problems).map(Self.text(of:))
        }
    }

    private func path(_ node: YAMLNode, _ what: String, _ problems: ProblemList) -> String? {
        guard let path = node.text(what, problems) else { return nil }
        if path.hasPrefix("/") { return path }
        if path.hasPrefix("~/") { return HostPaths.home + path.dropFirst() }
        problems.error(
            node.place, "\(what) is '\(path.shortened)'",
            "Begin it with '/' or '~/': the host may start in any directory")
        return nil
    }

    /// `4` for 4.0, `0.25` for 0.25.
    static func text(of number: Double) -> String {
        Double(Int64(number)) == number ? "\(Int64(number))" : "\(number)"
    }

    /// `64MiB`.
    static func text(of size: ByteCount) -> String { size.description.filter { $0 != " " } }
}
