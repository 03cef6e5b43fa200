import Foundation

/// Headers of the POSIX archive format: ustar, preceded by a pax header if a value does not fit into its
/// field.
enum TarHeader {
    /// The headers that precede an entry's content.
    static func bytes(for entry: TreeEntry) -> Data {
        let path = entry.path + (entry.kind == .directory ? "/" : "")
        var target = ""
        if case .link(let to) = entry.kind { target = to }
        var records = ""
        // The fields of ustar hold at most 100 bytes, and at most 11 octal digits.
        if path.utf8.count > 100 { records += record("path", path) }
        if target.utf8.count > 100 { records += record("linkpath", target) }
        if entry.size >= 1 << 33 { records += record("size", String(entry.size)) }

        var bytes = Data()
        if !records.isEmpty {
            let text = Data(records.utf8)
            bytes += header(
                name: "PaxHeaders/entry", type: "x", size: Int64(text.count), target: "", permissions: 0o644,
                modified: entry.modified)
            bytes += text
            bytes += Data(count: (512 - text.count % 512) % 512)
        }
        let type =
            switch entry.kind {
            case .file: "0"
            case .directory: "5"
            case .link: "2"
            }
        bytes += header(
            name: path, type: type, size: entry.size, target: target, permissions: entry.permissions,
            modified: entry.modified)
        return bytes
    }

    private static func header(
        name: String, type: String, size: Int64, target: String, permissions: Int, modified: Date
    ) -> Data {
        var block = Data(count: 512)
        func put(_ text: String, at offset: Int, room: Int) {
            for (place, byte) in text.utf8.prefix(room).enumerated() { block[offset + place] = byte }
        }
        func put(octal value: Int64, at offset: Int, digits: Int) {
            let text = String(max(0, value), radix: 8)
            let digitsOfIt = text.count > digits ? String(repeating: "7", count: digits) : text
            put(
                String(repeating: "0", count: digits - digitsOfIt.count) + digitsOfIt, at: offset,
                room: digits)
        }
        put(name, at: 0, room: 100)
        put(octal: Int64(permissions & 0o7777), at: 100, digits: 7)
        put(octal: 0, at: 108, digits: 7)
        put(octal: 0, at: 116, digits: 7)
        put(octal: size, at: 124, digits: 11)
        put(octal: Int64(modified.timeIntervalSince1970), at: 136, digits: 11)
        put("        ", at: 148, room: 8)
        put(type, at: 156, room: 1)
        put(target, at: 157, room: 100)
        put("ustar\0" + "00", at: 257, room: 8)
        let sum = block.reduce(Int64(0)) { $0 + Int64($1) }
        put(octal: sum, at: 148, digits: 6)
        block[154] = 0
        return block
    }

    /// A pax record.
    ///
    /// Its length field counts the whole record, including the digits of the length itself.
    private static func record(_ key: String, _ value: String) -> String {
        let rest = " \(key)=\(value)\n"
        var length = rest.utf8.count
        while String(length).utf8.count + rest.utf8.count != length {
            length = String(length).utf8.count + rest.utf8.count
        }
        return "\(length)\(rest)"
    }
}
