import LinuxSystem

/// Names the functions of code addresses by the symbols of the files that they are mapped from.
struct CodeNames {
    /// One frame of a stack.
    struct Frame: Equatable {
        /// The function and its file; the place in the file where no symbol is known.
        let function: String
        /// For people: `burn+0x12  libPhotos.so`.
        let text: String
    }

    let map: CodeMap?
    private var symbols: [String: ELFSymbols] = [:]

    init(map: CodeMap?) {
        self.map = map
    }

    /// The frames of a stack, innermost first.
    mutating func frames(of addresses: [UInt64]) -> [Frame] {
        addresses.enumerated().map { index, address in
            // A return address may already lie behind the end of the function that called.
            frame(of: address, lookingAt: index == 0 ? address : address &- 1)
        }
    }

    private mutating func frame(of address: UInt64, lookingAt place: UInt64) -> Frame {
        guard let (path, offset) = map?.place(of: place) else {
            let text = "0x" + String(address, radix: 16)
            return Frame(function: text, text: text)
        }
        let file = OutputLines.harmless(path.split(separator: "/").last.map(String.init) ?? path)
        let known = symbols[path] ?? ELFSymbols(path: path)
        symbols[path] = known
        guard let (symbol, distance) = known.function(atOffset: offset) else {
            let text = "\(file)+0x" + String(offset, radix: 16)
            return Frame(function: text, text: text)
        }
        let name = OutputLines.harmless(SymbolName.readable(symbol))
        return Frame(
            function: "\(name) \(file)",
            text: "\(name)+0x\(String(distance + (address - place), radix: 16))  \(file)")
    }
}
