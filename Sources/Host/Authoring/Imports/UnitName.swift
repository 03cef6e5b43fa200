/// The name of a unit of systemd, or the path of its file, such as `backup@home.timer`.
struct UnitName {
    /// The name without its directory.
    let file: String
    /// The name without its type: `backup@home`.
    let base: String
    /// The part before `@`, or all of ``base``: `backup`.
    let prefix: String
    /// The part after `@`; empty for a template, and `nil` for a unit that is no instance.
    let instance: String?
    /// The name, or path, of the template of an instance: `backup@.timer`; `nil` for other units.
    let template: String?

    init(_ name: String) {
        let directory = name.lastIndex(of: "/").map { name[...$0] } ?? ""
        let file = name.dropFirst(directory.count)
        let dot = file.lastIndex(of: ".") ?? file.endIndex
        let base = file[..<dot]
        (self.file, self.base) = (String(file), String(base))
        if let at = base.firstIndex(of: "@") {
            prefix = String(base[..<at])
            let instance = String(base[base.index(after: at)...])
            self.instance = instance
            template = instance.isEmpty ? nil : "\(directory)\(base[...at])\(file[dot...])"
        } else {
            (prefix, instance, template) = (String(base), nil, nil)
        }
    }

    /// An instance as text: systemd writes `/` as `-`, and other bytes as `\xHH`.
    static func unescaped(_ instance: String) -> String {
        var bytes: [UInt8] = []
        var rest = instance.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "-") {
                bytes.append(UInt8(ascii: "/"))
            } else if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "x"),
                let value = UInt8(String(decoding: rest.dropFirst().prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
