import CLinuxShims

/// A descriptor that arrived in a message; it is closed with the last reference to this object.
public final class BusDescriptor: Equatable, Sendable {
    private let descriptor: OwnedDescriptor

    init(taking number: CInt) { descriptor = OwnedDescriptor(taking: number) }

    /// Two descriptors are equal only if they are the same object.
    public static func == (left: BusDescriptor, right: BusDescriptor) -> Bool { left === right }
}

/// A value in a bus message; a variant becomes the value that it contains.
public indirect enum BusValue: Equatable, Sendable {
    /// A Boolean (D-Bus type `b`).
    case flag(Bool)
    /// An integer of any size; values outside the range of `Int64` become its largest value.
    case integer(Int64)
    /// A floating-point number (D-Bus type `d`).
    case number(Double)
    /// A string, object path or signature.
    case text(String)
    /// An array or structure.
    case list([BusValue])
    /// An array of pairs whose keys are strings.
    case dictionary([String: BusValue])
    /// A file descriptor (D-Bus type `h`).
    case descriptor(BusDescriptor)
}

/// Reads the arguments of a message, whose form sd-bus has already checked.
struct BusReader {
    let message: OpaquePointer

    /// Reads all arguments; `nil` if a value has a type that no supported service sends.
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
        // No value is larger than 8 bytes.
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
