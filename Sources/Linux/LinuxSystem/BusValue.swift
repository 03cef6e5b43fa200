import CLinuxShims

/// A descriptor that came in a message; closed with the last reference to it.
public final class BusDescriptor: Equatable, Sendable {
    private let descriptor: OwnedDescriptor

    init(taking number: CInt) { descriptor = OwnedDescriptor(taking: number) }

    /// Two are equal if they are the same one.
    public static func == (left: BusDescriptor, right: BusDescriptor) -> Bool { left === right }
}

/// A value of a bus message; a variant is what is in it.
public indirect enum BusValue: Equatable, Sendable {
    /// `b`.
    case flag(Bool)
    /// Whole numbers of all sizes; those above the range of `Int64` are its end.
    case integer(Int64)
    /// `d`.
    case number(Double)
    /// Strings, object paths and signatures.
    case text(String)
    /// Arrays and structures.
    case list([BusValue])
    /// Arrays of pairs whose first is a string.
    case dictionary([String: BusValue])
    /// `h`.
    case descriptor(BusDescriptor)
}

/// Reads a message's arguments; the connection has checked its form before.
struct BusReader {
    let message: OpaquePointer

    /// All of them; `nil` if a value has a type that no supported service sends.
    func arguments() -> [BusValue]? {
        var values: [BusValue] = []
        while true {
            var type: CChar = 0
            var contents: UnsafePointer<CChar>?
            let found = lx_bus_peek(message, &type, &contents)
            if found < 0 { return nil }
            if found == 0 { return values }
            guard let value = value(UInt8(bitPattern: type), type, contents) else { return nil }
            values.append(value)
        }
    }

    private func value(_ kind: UInt8, _ type: CChar, _ contents: UnsafePointer<CChar>?) -> BusValue? {
        switch UnicodeScalar(kind) {
        case "y": return read(type, UInt8.self).map { .integer(Int64($0)) }
        case "n": return read(type, Int16.self).map { .integer(Int64($0)) }
        case "q": return read(type, UInt16.self).map { .integer(Int64($0)) }
        case "i": return read(type, Int32.self).map { .integer(Int64($0)) }
        case "u": return read(type, UInt32.self).map { .integer(Int64($0)) }
        case "x": return read(type, Int64.self).map { .integer($0) }
        case "t": return read(type, UInt64.self).map { .integer(Int64(clamping: $0)) }
        case "b": return read(type, Int32.self).map { .flag($0 != 0) }
        case "d": return read(type, UInt64.self).map { .number(Double(bitPattern: $0)) }
        case "s", "o", "g": return text(type).map(BusValue.text)
        case "h":
            guard let number = read(type, Int32.self) else { return nil }
            let own = lx_bus_keep_descriptor(number)
            return own < 0 ? nil : .descriptor(BusDescriptor(taking: own))
        case "a", "r", "e", "v": return container(kind, type, contents)
        default: return nil
        }
    }

    private func container(_ kind: UInt8, _ type: CChar, _ contents: UnsafePointer<CChar>?) -> BusValue? {
        guard lx_bus_enter(message, type, contents) >= 0, let values = arguments(),
            lx_bus_leave(message) >= 0
        else { return nil }
        if kind == UInt8(ascii: "v") { return values.first }
        guard kind == UInt8(ascii: "a"), let contents, contents.pointee == CChar(UInt8(ascii: "{")) else {
            return .list(values)
        }
        var entries: [String: BusValue] = [:]
        for case .list(let pair) in values {
            guard pair.count == 2, case .text(let key) = pair[0] else { return .list(values) }
            entries[key] = pair[1]
        }
        return .dictionary(entries)
    }

    private func read<Value: FixedWidthInteger>(_ type: CChar, _: Value.Type) -> Value? {
        // The largest value has 8 bytes.
        var bytes: UInt64 = 0
        guard lx_bus_read(message, type, &bytes) > 0 else { return nil }
        return withUnsafeBytes(of: bytes) { $0.loadUnaligned(as: Value.self) }
    }

    private func text(_ type: CChar) -> String? {
        var text: UnsafePointer<CChar>?
        guard lx_bus_read(message, type, &text) > 0 else { return nil }
        return text.map { String(cString: $0) }
    }
}
