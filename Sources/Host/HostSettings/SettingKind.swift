import LinuxSystem
import Pushes
import Signatures
import StrictFiles
public import TaskModel

/// The type and range of a setting's values; it parses and formats them.
public enum SettingKind: Sendable {
    /// A duration with a unit, such as `15m`; the bounds are inclusive.
    case duration(ClosedRange<Duration>)
    /// A whole number; the bounds are inclusive.
    case integer(ClosedRange<Int>)
    /// A number, with or without a decimal point; the bounds are inclusive.
    case decimal(ClosedRange<Double>)
    /// `true` or `false`.
    case bool
    /// One of these words.
    case word([String])
    /// An absolute path, or one that begins with `~/`.
    case path
    /// The name or number of a group of users; empty means none.
    case group
    /// An IP address and a port, such as `127.0.0.1:8765`; empty means none.
    case address
    /// The bus name of a distributor of UnifiedPush, `any` or `none`.
    case distributor
    /// A range of the numbers of users, such as `60600-60999`, or `none`.
    case users
    /// A size with a unit, such as `64MiB`; the bounds are inclusive.
    case size(ClosedRange<ByteCount>)

    /// A list of public keys, which verify signatures.
    case publicKeys

    var isPath: Bool {
        if case .path = self { true } else { false }
    }

    /// A description of the valid values, for people: `duration, 1s to 1h`.
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
        case .publicKeys: "list of public keys"
        case .group: "name or number of a group"
        case .address: "IP address and port"
        case .distributor: "none, any, or a bus name"
        case .users: "first and last number, such as 60600-60999, or none"
        case .size(let range):
            "size, \(Self.text(of: range.lowerBound)) to \(Self.text(of: range.upperBound))"
        }
    }

    /// Checks a YAML node and converts its value to the form that ``SettingKey`` stores.
    ///
    /// Returns `nil` after adding a problem if the value is invalid.
    func text(of node: YAMLNode, _ what: String, _ problems: ProblemList) -> String? {
        switch self {
        case .duration(let range): node.duration(what, in: range, problems).map(DurationText.format)
        case .integer(let range): node.integer(what, in: range, problems).map(String.init)
        case .decimal(let range): node.decimal(what, in: range, problems).map(Self.text(of:))
        case .bool: node.bool(what, problems).map(String.init)
        case .word(let words): node.word(what, among: words, problems)
        case .path: path(node, what, problems)
        case .group: group(node, what, problems)
        case .address: address(node, what, problems)
        case .distributor: distributor(node, what, problems)
        case .users: users(node, what, problems)
        case .size(let range): node.size(what, in: range, problems).map(Self.text(of:))
        case .publicKeys: publicKeys(node, what, problems)
        }
    }

    /// Reads a list of keys, or a text with keys that spaces separate, as in an environment variable.
    private func publicKeys(_ node: YAMLNode, _ what: String, _ problems: ProblemList) -> String? {
        var texts: [(text: String, place: Place)] = []
        if case .sequence(let items) = node.value {
            for item in items {
                guard let text = item.text("a key of \(what)", problems) else { return nil }
                texts.append((text, item.place))
            }
        } else {
            guard let text = node.text(what, problems) else { return nil }
            texts = text.split(separator: " ").map { (String($0), node.place) }
        }
        for (text, place) in texts {
            do {
                _ = try PublicKey(text)
            } catch {
                problems.error(place, "\(what): \(error.finding)", error.remedy)
                return nil
            }
        }
        return texts.map(\.text).joined(separator: " ")
    }

    private func path(_ node: YAMLNode, _ what: String, _ problems: ProblemList) -> String? {
        guard let path = node.text(what, problems) else { return nil }
        if path.hasPrefix("/") { return path }
        if path.hasPrefix("~/") { return HostPaths.home + path.dropFirst() }
        problems.error(
            node.place, "\(what) must be an absolute path, found '\(path.shortened)'",
            "Begin it with '/' or '~/': the host may start in any directory")
        return nil
    }

    private func group(_ node: YAMLNode, _ what: String, _ problems: ProblemList) -> String? {
        guard let name = node.text(what, problems) else { return nil }
        let isValid = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                UInt8(ascii: "."):
                true
            default: false
            }
        }
        // useradd(8) permits at most 32 bytes.
        if isValid, name.utf8.count <= 32 { return name }
        problems.error(
            node.place, "\(what) must be the name of a group, found '\(name.shortened)'",
            "List the groups of this machine: getent group")
        return nil
    }

    private func address(_ node: YAMLNode, _ what: String, _ problems: ProblemList) -> String? {
        guard let text = node.text(what, problems) else { return nil }
        do throws(ListenAddress.Problem) {
            return text.isEmpty ? text : try ListenAddress(text).description
        } catch {
            problems.error(node.place, "\(what) '\(text.shortened)': \(error.finding)", error.remedy)
            return nil
        }
    }

    private func distributor(_ node: YAMLNode, _ what: String, _ problems: ProblemList) -> String? {
        guard let text = node.text(what, problems) else { return nil }
        if DistributorChoice(text) != nil { return text.isEmpty ? "none" : text }
        problems.error(
            node.place, "\(what) must be a distributor, found '\(text.shortened)'",
            "Write none, any, or a name such as \(DistributorChoice.namespace).kde")
        return nil
    }

    private func users(_ node: YAMLNode, _ what: String, _ problems: ProblemList) -> String? {
        // A single number, which is not enough, gets the same advice as other texts.
        guard case .scalar(let text, _) = node.value, !node.isNull else {
            return node.text(what, problems)
        }
        do {
            return UserRange.text(of: try UserRange.parse(text))
        } catch {
            problems.error(node.place, "\(what) '\(text.shortened)': \(error.finding)", error.remedy)
            return nil
        }
    }

    /// Formats a number without needless digits: `4` for 4.0, `0.25` for 0.25.
    static func text(of number: Double) -> String {
        Double(Int64(number)) == number ? "\(Int64(number))" : "\(number)"
    }

    /// Formats a size without a space: `64MiB`.
    static func text(of size: ByteCount) -> String { size.description.filter { $0 != " " } }
}
