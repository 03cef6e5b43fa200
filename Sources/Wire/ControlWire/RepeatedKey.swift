public import FoundationEssentials

/// Finds keys that occur more than once in one object of a JSON text.
///
/// `JSONDecoder` uses one of the values without an error, so the host might do something that the client did
/// not intend.
public enum RepeatedKey {
    /// Returns the first repeated key.
    ///
    /// - Parameter text: Valid JSON; for other text, the result is meaningless.
    /// - Returns: The key; `nil` if no key is repeated.
    public static func first(in text: Data) -> String? {
        var objects: [Set<String>] = []
        var isObject: [Bool] = []
        var expectsKey = false
        var index = text.startIndex
        while index < text.endIndex {
            switch text[index] {
            case UInt8(ascii: "{"):
                objects.append([])
                isObject.append(true)
                expectsKey = true
            case UInt8(ascii: "["):
                isObject.append(false)
                expectsKey = false
            case UInt8(ascii: "}"):
                _ = objects.popLast()
                _ = isObject.popLast()
            case UInt8(ascii: "]"): _ = isObject.popLast()
            case UInt8(ascii: ","): expectsKey = isObject.last == true
            case UInt8(ascii: ":"): expectsKey = false
            case UInt8(ascii: "\""):
                let end = endOfString(in: text, from: index)
                if expectsKey, !objects.isEmpty {
                    let key = string(text[index..<end])
                    if !objects[objects.count - 1].insert(key).inserted { return key }
                }
                index = end
                continue
            default: break
            }
            index += 1
        }
        return nil
    }

    /// The index after the closing quotation mark of a string.
    private static func endOfString(in text: Data, from start: Data.Index) -> Data.Index {
        var index = start + 1
        while index < text.endIndex, text[index] != UInt8(ascii: "\"") {
            index += text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + 1, text.endIndex)
    }

    /// The decoded string of a literal, so that `"a"` and `"\u0061"` count as the same key.
    private static func string(_ literal: Data) -> String {
        let list = Data("[".utf8) + literal + Data("]".utf8)
        return (try? JSONDecoder().decode([String].self, from: list))?.first
            ?? String(decoding: literal, as: UTF8.self)
    }
}
