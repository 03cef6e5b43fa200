import CLinuxShims
import Glibc

/// Names of functions as their language writes them.
public enum SymbolName {
    /// A Swift symbol as Swift writes it; any other as it is.
    public static func readable(_ symbol: String) -> String {
        guard symbol.hasPrefix("$s") || symbol.hasPrefix("$S") else { return symbol }
        guard let text = swift_demangle(symbol, symbol.utf8.count, nil, nil, 0) else { return symbol }
        defer { free(text) }
        return String(cString: text)
    }
}
