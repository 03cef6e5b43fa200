import CLinuxShims
import Glibc

/// Converts the symbols of functions to names that people can read.
public enum SymbolName {
    /// Demangles a Swift symbol; returns any other symbol unchanged.
    public static func readable(_ symbol: String) -> String {
        guard symbol.hasPrefix("$s") || symbol.hasPrefix("$S") else { return symbol }
        guard let text = swift_demangle(symbol, symbol.utf8.count, nil, nil, 0) else { return symbol }
        defer { free(text) }
        return String(cString: text)
    }
}
