import TaskModel

/// One value that can be configured: its key, what it may be, why the standard is what it is, and where it
/// goes.
public struct SettingKey: Sendable {
    /// The keys of the mappings on the way and its own: `scheduling`, `refreshSpacing`.
    public let path: [String]
    /// What it may be.
    public let kind: SettingKind
    /// What it is, and why the standard value is what it is; one or two short sentences.
    public let reason: String
    /// Whether a change takes force only after a restart of the host.
    public let needsRestart: Bool
    /// The value in the form that files have; `nil` where the host finds it out when it starts.
    let text: @Sendable (EffectiveSettings) -> String?
    /// Takes over a text that ``SettingKind/text(of:_:_:)`` made.
    let set: @Sendable (inout EffectiveSettings, String) -> Void

    /// `scheduling.refreshSpacing`.
    public var name: String { path.joined(separator: ".") }

    /// Whether it is a switch for background refresh, whose `restricted` only files of the vendor and the
    /// administrator may say.
    var isRefreshSwitch: Bool { path.last == "refresh" }
}

/// Keys by the type of what they set.
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
        needsRestart: Bool
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

    private static func parts(_ name: String) -> [String] { name.split(separator: ".").map(String.init) }
}
