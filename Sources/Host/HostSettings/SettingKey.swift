import Signatures
import TaskModel

/// One setting: its key, its valid values, the reason for its default, and its place in
/// ``EffectiveSettings``.
public struct SettingKey: Sendable {
    /// The parts of the key, outermost first: `scheduling`, `refreshSpacing`.
    public let path: [String]
    /// The type and range of valid values.
    public let kind: SettingKind
    /// The meaning, and the reason for the default, in a few short sentences for users.
    public let reason: String
    /// Whether a change takes effect only when the host restarts.
    public let needsRestart: Bool
    /// Formats the present value as in a configuration file; `nil` if the settings contain no value for the
    /// key.
    let text: @Sendable (EffectiveSettings) -> String?
    /// Stores a value; the text must come from ``SettingKind/text(of:_:_:)``, and any other text may be
    /// ignored.
    let set: @Sendable (inout EffectiveSettings, String) -> Void

    /// The whole key, with dots: `scheduling.refreshSpacing`.
    public var name: String { path.joined(separator: ".") }

    /// Whether the setting is a switch for background refresh.
    ///
    /// Only the files of the vendor and the administrator may set such a switch to `restricted`.
    var isRefreshSwitch: Bool { path.last == "refresh" }
}

/// One factory function for each type of setting.
extension SettingKey {
    typealias Target<Value> = any WritableKeyPath<EffectiveSettings, Value> & Sendable

    static func duration(
        _ name: String, _ target: Target<Duration>, _ range: ClosedRange<Duration>, _ reason: String,
        needsRestart: Bool = false
    ) -> Self {
        Self(
            path: parts(name), kind: .duration(range), reason: reason, needsRestart: needsRestart,
            text: { DurationText.format($0[keyPath: target]) },
            set: { if let value = try? DurationText.parse($1) { $0[keyPath: target] = value } })
    }

    static func integer<Number: FixedWidthInteger & SendableMetatype>(
        _ name: String, _ target: Target<Number>, _ range: ClosedRange<Int>, _ reason: String,
        needsRestart: Bool = false
    ) -> Self {
        Self(
            path: parts(name), kind: .integer(range), reason: reason, needsRestart: needsRestart,
            text: { "\($0[keyPath: target])" },
            set: { if let value = Number($1) { $0[keyPath: target] = value } })
    }

    static func decimal(
        _ name: String, _ target: Target<Double>, _ range: ClosedRange<Double>, _ reason: String
    ) -> Self {
        Self(
            path: parts(name), kind: .decimal(range), reason: reason, needsRestart: false,
            text: { SettingKind.text(of: $0[keyPath: target]) },
            set: { if let value = Double($1) { $0[keyPath: target] = value } })
    }

    static func bool(
        _ name: String, _ target: Target<Bool>, _ reason: String, needsRestart: Bool = false
    ) -> Self {
        Self(
            path: parts(name), kind: .bool, reason: reason, needsRestart: needsRestart,
            text: { "\($0[keyPath: target])" }, set: { $0[keyPath: target] = $1 == "true" })
    }

    static func size(
        _ name: String, _ target: Target<ByteCount>, _ range: ClosedRange<ByteCount>, _ reason: String,
        needsRestart: Bool = false
    ) -> Self {
        Self(
            path: parts(name), kind: .size(range), reason: reason, needsRestart: needsRestart,
            text: { SettingKind.text(of: $0[keyPath: target]) },
            set: { if let value = try? ByteCountText.parse($1) { $0[keyPath: target] = value } })
    }

    static func word<Word: RawRepresentable<String> & CaseIterable & SendableMetatype>(
        _ name: String, _ target: Target<Word>, _ reason: String, needsRestart: Bool = false
    ) -> Self {
        Self(
            path: parts(name), kind: .word(Word.allCases.map(\.rawValue)), reason: reason,
            needsRestart: needsRestart, text: { $0[keyPath: target].rawValue },
            set: { if let value = Word(rawValue: $1) { $0[keyPath: target] = value } })
    }

    static func path(_ name: String, _ target: Target<String>, _ reason: String) -> Self {
        Self(
            path: parts(name), kind: .path, reason: reason, needsRestart: true,
            text: { $0[keyPath: target] }, set: { $0[keyPath: target] = $1 })
    }

    static func publicKeys(_ name: String, _ target: Target<[PublicKey]>, _ reason: String) -> Self {
        Self(
            path: parts(name), kind: .publicKeys, reason: reason, needsRestart: true,
            text: { $0[keyPath: target].map(\.text).joined(separator: " ") },
            set: { settings, text in
                settings[keyPath: target] = text.split(separator: " ").compactMap {
                    try? PublicKey(String($0))
                }
            })
    }

    static func group(_ name: String, _ target: Target<String>, _ reason: String) -> Self {
        Self(
            path: parts(name), kind: .group, reason: reason, needsRestart: true,
            text: { $0[keyPath: target] }, set: { $0[keyPath: target] = $1 })
    }

    static func address(_ name: String, _ target: Target<String>, _ reason: String) -> Self {
        Self(
            path: parts(name), kind: .address, reason: reason, needsRestart: true,
            text: { $0[keyPath: target] }, set: { $0[keyPath: target] = $1 })
    }

    static func distributor(_ name: String, _ target: Target<String>, _ reason: String) -> Self {
        Self(
            path: parts(name), kind: .distributor, reason: reason, needsRestart: true,
            text: { $0[keyPath: target] }, set: { $0[keyPath: target] = $1 })
    }

    static func users(_ name: String, _ target: Target<ClosedRange<UInt32>?>, _ reason: String) -> Self {
        Self(
            path: parts(name), kind: .users, reason: reason, needsRestart: true,
            text: { UserRange.text(of: $0[keyPath: target]) },
            set: { settings, text in
                // `try?` would make no difference between 'none' and an error.
                if case .success(let range) = Result(catching: { try UserRange.parse(text) }) {
                    settings[keyPath: target] = range
                }
            })
    }

    private static func parts(_ name: String) -> [String] { name.split(separator: ".").map(String.init) }
}
