import LinuxSystem

/// Finds the functions that code addresses belong to, in the symbols of the mapped files.
struct CodeNames {
    /// One frame of a stack.
    struct Frame: Equatable {
        /// The function and its file; without a symbol, the file and the offset in it; outside of all files,
        /// the address.
        let function: String
        /// The text for reports, such as `burn+0x12  libPhotos.so`.
        let text: String
    }

    /// How many bytes of files are read for one report: 256 MiB, our choice.
    ///
    /// The files are those that the task mapped, so a hostile task chooses them. Programs and libraries with
    /// the symbols of Swift have some 10 MB each.
    private static let byteLimit = 256 << 20

    let map: CodeMap?
    private var bytesLeft = Self.byteLimit
    private var symbols: [String: ELFSymbols] = [:]

    init(map: CodeMap?) {
        self.map = map
    }

    /// The frames of a stack, innermost first.
    mutating func frames(of addresses: [UInt64]) -> [Frame] {
        addresses.enumerated().map { index, address in
            // A return address can be just behind the end of the calling function, so the byte before it
            // counts.
            frame(of: address, lookingAt: index == 0 ? address : address &- 1)
        }
    }

    private mutating func frame(of address: UInt64, lookingAt place: UInt64) -> Frame {
        guard let (path, offset) = map?.place(of: place) else {
            let text = "0x" + String(address, radix: 16)
            return Frame(function: text, text: text)
        }
        let file = OutputLines.harmless(path.split(separator: "/").last.map(String.init) ?? path)
        let known = symbols[path] ?? ELFSymbols(path: path, limit: bytesLeft)
        if symbols[path] == nil { bytesLeft -= known.size }
        symbols[path] = known
        guard let (symbol, distance) = known.function(atOffset: offset) else {
            let text = "\(file)+0x" + String(offset, radix: 16)
            return Frame(function: text, text: text)
        }
        let name = OutputLines.harmless(SymbolName.readable(symbol))
        return Frame(
            function: "\(name) \(file)",
            text: "\(name)+0x\(String(distance &+ (address &- place), radix: 16))  \(file)")
    }
}
